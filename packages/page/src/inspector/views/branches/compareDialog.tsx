import { useEffect, useMemo, useState } from 'preact/hooks'
import type { SessionEntry } from '../../../../../wire/src/frames.ts'
import { isAgentId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { comparable, type Comparable } from '../../model/branches/comparable.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { oneLine } from '../../model/words/shortText.ts'
import { Dialog } from '../../parts/dialog.tsx'

export interface CompareDialogProps {
  readonly inspector: Inspector
  readonly view: FollowedAgent
  readonly onClose: () => void
}

/** Maximum number of agents that are listed. Words narrow them down. */
const mostListed = 50

/** Chooses the agent to compare with the one that is shown. Agents with which it shares a past come first. */
export function CompareDialog({ inspector, view, onClose }: CompareDialogProps) {
  const { connection, directory } = inspector.attached.value
  const { agents, sessions } = directory
  const [words, setWords] = useState('')
  const [forks, setForks] = useState<readonly SessionEntry[]>([])
  const { agentId } = view
  const { definition, created } = view.state.value
  const source = created?.forkedFrom?.agentId
  useEffect(() => {
    let isOver = false
    const read = async (of: string): Promise<readonly SessionEntry[]> =>
      (await connection.client.sessions({ forkedFrom: of, limit: mostListed }).catch(() => ({ sessions: [] }))).sessions
    void Promise.all([agentId, ...(source === undefined ? [] : [source])].map(read)).then((lists) => {
      if (!isOver) setForks(lists.flat())
    })
    return () => void (isOver = true)
  }, [connection, agentId, source])
  const found = useMemo(() => {
    const own = { agentId, definition, ...(source === undefined ? {} : { forkedFrom: source }) }
    // The source may be in no list that was read.
    const first = source === undefined ? [] : [{ agentId: source, definition }]
    return comparable(own, [...forks, ...(sessions.value ?? []), ...agents.value.values(), ...first], words)
  }, [forks, agents.value, sessions.value, agentId, definition, source, words])
  const typed = words.trim()
  const choose = (other: string): void => {
    onClose()
    inspector.go({ with: other })
  }
  const isUnknown = found.length === 0 && isAgentId(typed) && typed !== agentId
  return (
    <Dialog title="Compare with" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault()
          const first = found[0]?.agentId ?? (isUnknown ? typed : undefined)
          if (first !== undefined) choose(first)
        }}
      >
        <label class="field">
          <span>Agent or session</span>
          <input
            class="input"
            type="search"
            value={words}
            placeholder="Title or id"
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
        </label>
        <ul class="compare-choices scroll">
          {found.slice(0, mostListed).map((one) => (
            <Choice key={one.agentId} one={one} onChoose={() => choose(one.agentId)} />
          ))}
        </ul>
        {found.length > mostListed ? (
          <p class="faint small"> {found.length - mostListed} more. Type to narrow the list.</p>
        ) : null}
        {isUnknown ? <p class="muted">No match in the list. Press Enter to look up the id “{typed}”.</p> : null}
        {found.length === 0 && !isUnknown ? <p class="muted">There are no other agents or sessions.</p> : null}
      </form>
    </Dialog>
  )
}

function Choice({ one, onChoose }: { readonly one: Comparable; readonly onChoose: () => void }) {
  const { agentId, title, definition, kin } = one
  return (
    <li>
      <button type="button" class="compare-choice" onClick={onChoose}>
        <span class="compare-choice-name">
          <bdi class="cut">{title === undefined ? agentId : oneLine(title, 200)}</bdi>
          <span class="faint small cut">
            {definition}
            {title === undefined ? null : (
              <>
                {' · '}
                <span class="mono">{agentId}</span>
              </>
            )}
          </span>
        </span>
        {kin === 'other' ? null : <span class={`badge ${kin === 'same definition' ? '' : 'accent'}`}>{kin}</span>}
      </button>
    </li>
  )
}
