import { opText } from '../../../../../words/src/parts/stateLines.ts'
import { JsonTree } from '../../parts/jsonTree.tsx'
import type { StateAtNode } from '../../model/conversation/stateAtNode.ts'

/** Maximum number of changes that are listed, and of characters of one. */
const most = { changes: 50, chars: 300 }

/** The state of the agent at a message: its difference from the state at the message before, and the whole of it. */
export function NodeState({ state: { value, changed } }: { readonly state: StateAtNode }) {
  const more = changed.length - most.changes
  return (
    <div class="node-state" role="group" aria-labelledby="node-state-title">
      <h3 id="node-state-title">State</h3>
      {changed.length === 0 ? (
        <p class="small muted">As at the message before.</p>
      ) : (
        <ul class="sources" aria-label="Changes of the state since the message before">
          {changed.slice(0, most.changes).map((op) => (
            <li key={`${op.op} ${op.path}`} class="small mono cut" title={opText(op).slice(0, most.chars)}>
              {opText(op).slice(0, most.chars)}
            </li>
          ))}
        </ul>
      )}
      {more > 0 ? <p class="small muted">{more} more</p> : null}
      <JsonTree value={value} depth={1} />
    </div>
  )
}
