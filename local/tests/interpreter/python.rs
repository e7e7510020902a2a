//! What Python cells show.

use super::role::{INSTALL, Role, error, main_text, of_type, text};
use base64::Engine;
use serde_json::{Value, json};

#[tokio::test]
async fn state_stays_between_cells_and_the_last_expression_is_the_main_result() {
    let role = Role::start();
    let events = role.python("x = 41\nprint('one')\nx + 1").await;
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().expect("a type")).collect();
    assert_eq!(kinds, ["number_of_executions", "stdout", "result", "end_of_execution"]);
    assert_eq!(events[0], json!({ "type": "number_of_executions", "execution_count": 1 }));
    assert_eq!(events[1]["text"], "one\n");
    assert!(events[1]["timestamp"].as_str().expect("a timestamp").contains('T'));
    assert_eq!(events[2], json!({ "type": "result", "text": "42", "extra": {}, "is_main_result": true }));

    let events = role.python("str(x)").await;
    assert_eq!(events[0]["execution_count"], 2);
    assert_eq!(main_text(&events), "41");
    assert!(of_type(&role.python("x = 1").await, "result").is_empty());
}

#[tokio::test]
async fn rich_results_keep_every_type() {
    let role = Role::start();
    let code = "
from IPython.display import display, HTML, Markdown, SVG, Latex, Javascript, JSON
display(HTML('<b>é</b>'), Markdown('# m'), SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>'), Latex('$x$'), Javascript('f()'), JSON({'a': [1]}))
display({'image/gif': 'R0lGOD', 'application/x-own': {'k': [1, 2]}, 'application/pdf': 'JVBE\\nRi0=\\n', 'image/jpeg': '/9j/'}, raw=True)
{'b': (1, None)}";
    let results: Vec<Value> = of_type(&role.python(code).await, "result").into_iter().cloned().collect();
    let fields = [("html", json!("<b>é</b>")), ("markdown", json!("# m")), ("latex", json!("$x$")), ("json", json!({ "a": [1] }))];
    for (field, value) in fields {
        assert!(results.iter().any(|result| result[field] == value && result["is_main_result"] == false), "{field}: {results:?}");
    }
    assert!(results.iter().any(|result| result["svg"].as_str().is_some_and(|svg| svg.starts_with("<svg"))));
    assert!(results.iter().any(|result| result["javascript"].as_str().is_some_and(|code| code.contains("f()"))));
    let own = results.iter().find(|result| result["pdf"] == "JVBERi0=").expect("the raw display");
    assert_eq!(own["jpeg"], "/9j/");
    assert_eq!(own["extra"], json!({ "image/gif": "R0lGOD", "application/x-own": { "k": [1, 2] } }));
    assert_eq!(results.last().expect("a main result")["json"], json!({ "b": [1, null] }));
}

#[tokio::test]
async fn figures_come_as_picture_and_as_chart() {
    let role = Role::start();
    let code = "
import matplotlib.pyplot as plt
plt.plot([1, 2, float('nan')], [4.5, 5, 6], label='one')
plt.title('Title'); plt.xlabel('Time (s)'); plt.ylabel('Way [m]')
plt.show()";
    let events = role.python(code).await;
    let [result] = of_type(&events, "result")[..] else { panic!("one result: {events:?}") };
    let png = base64::engine::general_purpose::STANDARD.decode(result["png"].as_str().expect("a picture")).expect("base64");
    assert!(png.starts_with(b"\x89PNG"));
    let chart = &result["chart"];
    assert_eq!(
        (&chart["type"], &chart["title"], &chart["x_unit"], &chart["y_unit"]),
        (&json!("line"), &json!("Title"), &json!("s"), &json!("m"))
    );
    assert_eq!(chart["elements"][0]["label"], "one");
    assert_eq!(chart["elements"][0]["points"], json!([[1.0, 4.5], [2.0, 5.0], [null, 6.0]]));

    for (code, kind) in [
        ("plt.bar(['a', 'b'], [3, 4])", "bar"),
        ("plt.pie([1, 2, 3], labels=['a', 'b', 'c'])", "pie"),
        ("plt.scatter([1, 2], [3, 4])", "scatter"),
        ("f, a = plt.subplots(1, 2); a[0].plot([1, 2]); a[1].plot([3, 4])", "superchart"),
    ] {
        let events = role.python(&format!("{code}\nplt.show()")).await;
        assert!(of_type(&events, "result").iter().any(|result| result["chart"]["type"] == kind), "{kind}: {events:?}");
    }
}

#[tokio::test]
async fn tables_formulas_and_progress_bars_arrive() {
    let role = Role::start();
    let code = "
import pandas as pd
pd.DataFrame({'n': [1.5, float('nan')], 't': [pd.Timestamp('2026-01-02'), pd.NaT], 'o': [{'a'}, pd.Timedelta(1)], 3: [True, None]})";
    let events = role.python(code).await;
    let [table] = of_type(&events, "result")[..] else { panic!("one result: {events:?}") };
    assert!(table["html"].as_str().expect("html").contains("<table"));
    let data = &table["data"];
    assert_eq!(data["n"], json!([1.5, null]));
    assert_eq!(data["t"], json!(["2026-01-02T00:00:00", "NaT"]));
    assert_eq!(data["o"][0], "{'a'}");
    assert_eq!(data["3"], json!([true, null]));

    let events = role.python("import sympy\nx = sympy.Symbol('x')\nsympy.Integral(sympy.sqrt(1 / x), x)").await;
    assert!(of_type(&events, "result")[0]["latex"].as_str().is_some_and(|latex| latex.contains("\\int")), "{events:?}");

    let events = role.python("from tqdm import tqdm\nfor i in tqdm(range(3)): pass").await;
    let bar = text(&events, "stderr");
    assert!(bar.contains("3/3") && bar.contains('\r'), "{bar:?}");

    let events = role.python("import plotly.graph_objects as go\ngo.Figure(go.Bar(y=[1, 2])).show()").await;
    assert!(of_type(&events, "result").iter().any(|result| result["extra"]["application/vnd.plotly.v1+json"].is_object()));
}

#[tokio::test]
async fn numbers_that_json_does_not_know_become_null() {
    let role = Role::start();
    let events = role.python("[1, float('nan'), float('-inf'), 'NaN']").await;
    assert_eq!(of_type(&events, "result")[0]["json"], json!([1, null, null, "NaN"]));
    let events = role
        .python("from IPython.display import display\ndisplay({'application/json': float('nan'), 'x/y': [float('inf')]}, raw=True)")
        .await;
    let result = of_type(&events, "result")[0];
    assert_eq!(result["extra"]["x/y"], json!([null]));
    assert!(result.get("json").is_none(), "{result}");
    // What has no JSON form is left out; the text stays.
    let events = role.python("a = []; a.append(a)\na").await;
    assert_eq!(main_text(&events), "[[...]]");
}

#[tokio::test]
async fn errors_carry_a_traceback_without_colours_and_the_kernel_goes_on() {
    let role = Role::start();
    let events = role.python("def f():\n    raise ValueError('no \"é\"')\nprint('before')\nf()").await;
    assert_eq!(text(&events, "stdout"), "before\n");
    let error = error(&events);
    assert_eq!((&error["name"], &error["value"]), (&json!("ValueError"), &json!("no \"é\"")));
    let traceback = error["traceback"].as_str().expect("a traceback");
    assert!(traceback.contains("line 2") && !traceback.contains('\u{1b}'), "{traceback}");

    let events = role.python("import sys; sys.exit(3)").await;
    assert_eq!(super::role::error(&events)["name"], "SystemExit");
    assert!(text(&events, "stderr").contains("exit"));
    let events = role.python("input('?')").await;
    assert_eq!(super::role::error(&events)["name"], "StdinNotImplementedError");
    assert_eq!(super::role::error(&role.python("print('x'").await)["name"], "SyntaxError");
    assert_eq!(main_text(&role.python("1 + 1").await), "2");
}

#[tokio::test]
async fn updates_of_displays_are_left_out_and_disturb_nothing() {
    let role = Role::start();
    let code = "
from IPython.display import display, clear_output
handle = display('first', display_id=True)
handle.update('second')
clear_output()
'last'";
    let events = role.python(code).await;
    let texts: Vec<_> = of_type(&events, "result").iter().map(|result| result["text"].clone()).collect();
    assert_eq!(texts, ["first", "last"]);
}

#[tokio::test]
async fn packages_are_installed_on_top_of_the_shared_ones() {
    let role = Role::start();
    let events = role.python(INSTALL).await;
    let shown = main_text(&events);
    let own = role.home().join(".local/share/agent-sandbox").display().to_string();
    assert!(shown.contains("'hello'") && shown.contains(&own), "{events:?}");
    // What the shared packages have is not installed again.
    assert!(shown.matches(&own).count() == 1, "{shown}");
    let events = role.python("!pip list 2>/dev/null | grep -i greeting; python -c 'import greeting; print(greeting.word)'").await;
    assert!(text(&events, "stdout").contains("hello"), "{events:?}");
}
