import { useMemo } from 'preact/hooks'
import { counted, money, whole } from '../../../../../charts/src/amounts.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import type { Savings } from '../../../../../sessions/src/savings/savings.ts'
import { rangeWords } from '../../../../../charts/src/savingsWords.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { contextUse, hasPaid, type BrakeUse, type PolicyUse } from '../../model/usage/contextBrakes.ts'
import { contextNotes, type ContextNote } from '../../model/usage/contextNotes.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import { costsOf } from '../../model/agent/viewStanding.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { Earlier, mostRows } from './earlier.tsx'
import { netWords, SavingsPanel, TreePanel } from './savingsPanel.tsx'
import { PermissionsPanel } from './permissionsPanel.tsx'
import { SourcesPanel } from './sourcesPanel.tsx'
import { LongText } from '../../parts/longText.tsx'

interface Props {
  readonly inspector: Inspector
  readonly view: FollowedAgent
}

/** The size of the agent's context over time, and every change that a brake made to it. */
export function ContextPane({ inspector, view }: Props) {
  const { records, at, lastSeq, events, eventCount, conversation, sources, instructions, permissions } =
    view.state.value
  const end = at ?? lastSeq
  const use = useMemo(() => contextUse(records, end), [records, end])
  const notes = useMemo(() => contextNotes(records, end, events.slice(0, eventCount)), [records, end, eventCount])
  const hasChildren = Object.keys(use.savings.children).length > 0
  const pins = conversation.pins()
  const masks = conversation.masks()
  const toNode = (node: NodeId): void => inspector.go({ node, view: 'conversation' })
  if (
    use.savings.sizes.length === 0 &&
    use.brakes.length === 0 &&
    notes.size === 0 &&
    sources.length + instructions.size === 0 &&
    permissions === null
  )
    return (
      <EmptyState icon="compact" title="Nothing yet">
        <p>The size of each request and what the brakes saved appear here after the first one.</p>
      </EmptyState>
    )
  return (
    <div class="context scroll" role="group" aria-label="Context" tabIndex={0}>
      <SavingsPanel savings={use.savings} />
      {hasChildren ? (
        <TreePanel
          inspector={inspector}
          agentId={view.agentId}
          records={records}
          costUsd={costsOf(view.state.value, inspector.attached.value.directory.agents.value.get(view.agentId)).tree}
        />
      ) : null}
      {pins.length + masks.length === 0 ? null : (
        <section aria-labelledby="held-title">
          <h2 id="held-title">Now</h2>
          <Nodes label="pinned" nodes={pins} onNode={toNode} />
          <Nodes label="results masked" nodes={masks} onNode={toNode} />
        </section>
      )}
      {use.brakes.length === 0 ? null : <Brakes brakes={use.brakes} savings={use.savings} onNode={toNode} />}
      {use.policies.length === 0 ? null : <Policies policies={use.policies} />}
      <PermissionsPanel inspector={inspector} view={view} />
      <SourcesPanel view={view} />
      {[...notes].map(([group, of]) => (
        <section key={group} aria-label={group}>
          <h2>
            {group} <span class="count number">{whole(of.length)}</span>
          </h2>
          <Earlier total={of.length} />
          <ul class="context-notes">
            {of.slice(-mostRows).map((note, index) => (
              <Note key={`${note.seq} ${index}`} note={note} onNode={toNode} />
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

interface NodesProps {
  readonly label: string
  readonly nodes: readonly NodeId[]
  readonly onNode: (node: NodeId) => void
}

const Nodes = ({ label, nodes, onNode }: NodesProps) =>
  nodes.length === 0 ? null : (
    <p>
      {counted(nodes.length, 'step')} {label}:{' '}
      {nodes.slice(-mostRows).map((node) => (
        <span key={node}>
          <NodeLink node={node} onNode={onNode} />{' '}
        </span>
      ))}
    </p>
  )

const NodeLink = ({ node, onNode }: { readonly node: NodeId; readonly onNode: (node: NodeId) => void }) => (
  <button type="button" class="link mono" onClick={() => onNode(node)}>
    {formatNodeId(node)}
  </button>
)

function paidWords(use: BrakeUse): string {
  if (use.economics === undefined) return '–'
  const { paysAfter, freed } = use.economics
  if (freed <= 0 || paysAfter === null) return 'never'
  return hasPaid(use) === true
    ? `paid after ${whole(paysAfter)}`
    : `${whole(use.saving?.requests ?? 0)} of ${whole(paysAfter)}`
}

const Brakes = ({
  brakes,
  savings,
  onNode,
}: {
  readonly savings: Savings
  readonly brakes: readonly BrakeUse[]
  readonly onNode: (node: NodeId) => void
}) => (
  <section aria-labelledby="brakes-title">
    <h2 id="brakes-title">
      What the brakes did <span class="count number">{whole(brakes.length)}</span>{' '}
      <span class="faint small">newest first</span>
    </h2>
    <Earlier total={brakes.length} />
    <div class="scroll" role="group" aria-label="What the brakes did" tabIndex={0}>
      <table class="runs number">
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">By</th>
            <th scope="col">Turn</th>
            <th scope="col">Frees a request</th>
            <th scope="col">Cache spoilt</th>
            <th scope="col">Requests since</th>
            <th scope="col">Net so far</th>
            <th scope="col" title="Requests until the savings outweighed the lost cache">
              Paid
            </th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {brakes
            .slice(-mostRows)
            .toReversed()
            .map((use) => (
              <tr key={use.seq} class={use.isApplied ? undefined : 'is-refused'}>
                <th scope="row">
                  {use.node === undefined ? null : <NodeLink node={use.node} onNode={onNode} />} {use.kind},{' '}
                  {forDisplay(use.what)}
                  {use.reason === undefined ? null : <span class="problem"> {forDisplay(use.reason)}</span>}
                </th>
                <td>{forDisplay(use.by)}</td>
                <td>{use.turnIndex + 1}</td>
                <td>{!use.isApplied ? 'refused' : use.economics === undefined ? '–' : whole(use.economics.freed)}</td>
                <td>{use.saving?.spoiltUsd == null ? '–' : rangeWords(use.saving.spoiltUsd)}</td>
                <td>{use.saving === undefined ? '–' : whole(use.saving.requests)}</td>
                <td>{use.saving === undefined ? '–' : netWords(use.saving)}</td>
                <td>{use.isApplied ? paidWords(use) : '–'}</td>
                <td>{money(use.costUsd)}</td>
              </tr>
            ))}
          <tr>
            <th scope="row">All, net of every model call for them</th>
            <td colSpan={5} />
            <td>{netWords(savings)}</td>
            <td />
            <td>{money(savings.byBrakes.costUsd)}</td>
          </tr>
        </tbody>
      </table>
    </div>
  </section>
)

const Policies = ({ policies }: { readonly policies: readonly PolicyUse[] }) => (
  <section aria-labelledby="policies-title">
    <h2 id="policies-title">Policies</h2>
    <table class="runs number">
      <thead>
        <tr>
          <th scope="col">Policy</th>
          <th scope="col">Fired</th>
          <th scope="col">Planned</th>
          <th scope="col">Failed</th>
          <th scope="col">Frees</th>
          <th scope="col">Asking</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        {policies.slice(-mostRows).map(({ policy, fired, planned, failed, freed, tokens, costUsd }) => (
          <tr key={policy}>
            <th scope="row">{forDisplay(policy)}</th>
            <td>{whole(fired)}</td>
            <td>{whole(planned)}</td>
            <td>{whole(failed)}</td>
            <td>{whole(freed)}</td>
            <td>{whole(tokens)}</td>
            <td>{money(costUsd)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

function Note({ note, onNode }: { readonly note: ContextNote; readonly onNode: (node: NodeId) => void }) {
  const { turnIndex, text, lines = [], tone, node } = note
  return (
    <li>
      <span class="faint small number context-turn">turn {turnIndex + 1}</span>
      <div class="grow">
        <bdi class={tone === undefined ? undefined : `tone-${tone}`}>{forDisplay(text)}</bdi>{' '}
        {node === undefined ? null : <NodeLink node={node} onNode={onNode} />}
        {lines.length === 0 ? null : (
          <details class="muted small">
            <summary>{counted(lines.length, 'line')}</summary>
            <LongText text={lines.join('\n')} kind="code" />
          </details>
        )}
      </div>
    </li>
  )
}
