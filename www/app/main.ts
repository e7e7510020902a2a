import "../elements/theme.css";
import "./app.css";
import "./console-app.js";
