const shortcuts: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['?'], 'This help'],
  [['0'], 'Overview of all agents'],
  [['1', '…', '5'], 'Conversation, chart, timeline, requests, context'],
  [['d'], 'Show or hide the details'],
  [['/'], 'Search the agent or its tree (Enter, Shift-Enter: next, previous match); filter the overview'],
  [['a'], 'Go to the list of agents'],
  [['p'], 'Go to the prompt'],
  [['t'], 'Time slider on and off'],
  [['l'], 'Return to live'],
  [['e', 'E'], 'Next and previous error'],
  [['z', 'Z'], 'Fit the chart, or show it in its own size'],
  [['c', 'C'], 'Next and previous change in the requests'],
  [['[', ']'], 'One record back or forward (on the slider also ← →; with Shift by turns)'],
  [['y', 'n'], 'Approve or deny the open call, else the first; on the overview the selected one'],
  [['Shift', 'Y'], 'Approve all waiting calls of the same tool'],
  [['f'], 'Fork at the selected message, or at the newest'],
  [['v'], 'Compare with another agent or session'],
  [['r'], 'Retry or resume (overview)'],
  [['n'], 'Start an agent, if nothing is waiting'],
  [['Enter'], 'Send the prompt (Shift-Enter: new line)'],
  [['Esc'], 'Close, or clear the selection'],
  [['↑', '↓', '←', '→'], 'Move in lists, trees and tabs'],
]

/** List of the keys and their actions. */
export const ShortcutList = () => (
  <dl class="shortcuts">
    {shortcuts.map(([keys, what]) => (
      <div key={what}>
        <dt>
          {keys.map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
        </dt>
        <dd>{what}</dd>
      </div>
    ))}
  </dl>
)
