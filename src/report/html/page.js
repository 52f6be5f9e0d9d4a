"use strict";
(() => {
  const form = document.getElementById("filter");
  const all = [...document.querySelectorAll("[data-verdicts]")];
  const cases = all.filter((one) => one.closest("#checks") && !one.closest(".findings"));
  const filter = () => {
    const item = form.elements.point.value;
    const text = form.elements.text.value.trim().toLowerCase();
    const verdicts = [...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value);
    for (const one of all) {
      const own = one.dataset.verdicts.split(" ");
      const items = one.dataset.items;
      const name = one.querySelector(".name, .id");
      one.hidden = !own.some((verdict) => verdicts.includes(verdict))
        || (item !== "" && items !== undefined && !items.split(" ").includes(item))
        || (text !== "" && name !== null && !name.textContent.toLowerCase().includes(text));
    }
    const shown = cases.filter((one) => !one.hidden).length;
    form.querySelector("output").textContent = `${shown} of ${cases.length} cases`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  filter();

  // A link into something folded unfolds it.
  const unfold = () => {
    const aim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (aim === null) return;
    for (let one = aim; one !== null; one = one.parentElement) {
      if (one.tagName === "DETAILS") one.open = true;
    }
    aim.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  // On paper nothing can be unfolded.
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll(".card .more")) one.open = true;
  });
})();
