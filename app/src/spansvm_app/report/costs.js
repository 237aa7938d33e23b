// The slider of the costs: every position has its texts ready, and its place on the chart.
(() => {
  const slider = document.getElementById("cost-ratio");
  if (!slider) return;
  const steps = JSON.parse(slider.dataset.steps);
  const words = document.getElementById("cost-words");
  const figures = document.querySelectorAll("#cost-figures dd");
  const at = document.getElementById("cost-at");
  const marker = document.getElementById("cost-marker");
  const curve = marker.parentNode.querySelector(".curve").points;

  function choose() {
    const step = steps[slider.value];
    words.textContent = step[0];
    slider.setAttribute("aria-valuetext", step[0]);
    figures.forEach((figure, index) => {
      figure.textContent = step[index + 1];
    });
    const x = curve.getItem(Number(slider.value)).x;
    marker.setAttribute("x1", x);
    marker.setAttribute("x2", x);
    at.textContent = slider.value === slider.defaultValue ? "equal costs" : "the chosen costs";
  }

  slider.value = slider.defaultValue;
  slider.addEventListener("input", choose);
  choose();
  document.getElementById("cost-table").open = false;
})();
