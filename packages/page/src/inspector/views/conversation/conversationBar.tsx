import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import type { AgentViewState } from '../../model/agent/agentView.ts'
import type { TagRow } from '../../model/conversation/graphRow.ts'
import { isOpenAtFirst } from '../../model/conversation/graphVisible.ts'
import type { GraphRows } from '../../model/conversation/graphRows.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { RawSwitch } from '../../parts/rawSwitch.tsx'
import { counted } from '../../../../../charts/src/amounts.ts'

export interface ConversationBarProps {
  readonly graph: GraphRows
  readonly state: AgentViewState
  readonly toggled: Signal<ReadonlySet<string>>
  /** Node that was asked for and does not exist. */
  readonly missing: string | null
  readonly onHead: () => void
}

/** Numbers of messages and abandoned branches, and the controls of the tree. */
export function ConversationBar({ graph, state, toggled, missing, onHead }: ConversationBarProps): JSX.Element {
  const { messages, onTrunk, tags } = countsOf(graph)
  const branches = tags.filter(({ until }) => until !== undefined)
  const isOpen = (row: TagRow): boolean => isOpenAtFirst(row) !== toggled.value.has(row.key)
  const areClosed = branches.length > 0 && !branches.some(isOpen)
  const toggleBranches = (): void => {
    const next = new Set(toggled.value)
    for (const row of branches) {
      if (isOpenAtFirst(row) === areClosed) next.delete(row.key)
      else next.add(row.key)
    }
    toggled.value = next
  }
  return (
    <div class="conversation-bar">
      {state.status === 'loading' ? (
        <p class="conversation-sum number is-reading" role="status">
          <strong>The last {counted(messages, 'node')}</strong>
          <span> · reading what came before: {counted(state.lastSeq, 'record')}</span>
        </p>
      ) : (
        <p class="conversation-sum number">
          <strong>{counted(messages, 'node')}</strong>
          {onTrunk !== messages && <span> · {formatCount(onTrunk)} on the trunk</span>}
          {branches.length > 0 && <span> · {formatCount(branches.length)} abandoned</span>}
          <span class="conversation-wide"> · ≈{counted(state.conversation.tokens, 'token')} of messages</span>
        </p>
      )}
      {missing !== null && (
        <span class="badge warn" role="status">
          {missing} is not in this conversation
        </span>
      )}
      {branches.length > 0 && (
        <button type="button" class="button quiet" onClick={toggleBranches}>
          {areClosed ? 'Show branches' : 'Hide branches'}
        </button>
      )}
      <RawSwitch />
      <button type="button" class="button quiet" onClick={onHead}>
        To the end
      </button>
    </div>
  )
}

const known = new WeakMap<GraphRows, { version: number; counts: Counts }>()

interface Counts {
  readonly messages: number
  readonly onTrunk: number
  readonly tags: readonly TagRow[]
}

function countsOf(graph: GraphRows): Counts {
  const before = known.get(graph)
  if (before?.version === graph.version) return before.counts
  const placed = graph.rows.filter((row) => 'nodeId' in row)
  const counts = {
    messages: placed.length,
    onTrunk: placed.filter(({ lane }) => lane === 0).length,
    tags: graph.rows.filter((row) => row.type === 'tag'),
  }
  known.set(graph, { version: graph.version, counts })
  return counts
}
