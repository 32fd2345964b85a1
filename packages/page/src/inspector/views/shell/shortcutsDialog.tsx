const shortcuts: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['?'], 'This help'],
  [['0'], 'Overview of all agents'],
  [['1', '…', '5'], 'Conversation, chart, timeline, requests, context'],
  [['d'], 'Details, where they lie over the agent'],
  [['/'], 'Search the agent, or its tree (Enter, Shift-Enter go on); on the overview, filter'],
  [['a'], 'To the list of agents'],
  [['p'], 'To the prompt'],
  [['t'], 'Time slider on and off'],
  [['l'], 'To the newest moment'],
  [['e', 'E'], 'Next and previous error'],
  [['c', 'C'], 'Next and previous change of a request, and on to the one beside it'],
  [['[', ']'], 'One record back in time, and on; of the slider also ← →, by turns with Shift'],
  [['y', 'n'], 'Approve, deny the call that stands open, else the first; on the overview the chosen one'],
  [['Shift', 'Y'], 'Approve all of its tool that wait now'],
  [['f'], 'Fork at the chosen message, or at the newest'],
  [['v'], 'Compare with another agent or session'],
  [['r'], 'On the overview: retry, or resume'],
  [['n'], 'Start an agent, when nothing waits'],
  [['Enter'], 'Send the prompt; Shift and Enter for a new line'],
  [['Esc'], 'Close, or leave what is chosen'],
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
