// A deck; what stands below the edge of a slide is drawn with it.
"use strict";

const drawSlide = ({ currentSlide }) => currentSlide.querySelectorAll(".chart").forEach(draw);
Reveal.on("ready", drawSlide);
Reveal.on("slidechanged", drawSlide);
Reveal.initialize({ hash: true, slideNumber: "c/t", transition: "none", width: 1280, height: 800 });
