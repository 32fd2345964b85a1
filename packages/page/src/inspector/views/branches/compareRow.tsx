import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { ConversationNode } from '../../../../../../src/conversation/tree/node.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { wordDiff } from '../../../../../charts/src/text/wordDiff.ts'
import type { ComparedRow } from '../../model/branches/compareTrunks.ts'
import { messageWords, mostCompared, shownParts, type ShownPart } from '../../model/branches/compareWords.ts'
import type { Inspector } from '../../model/shell/inspector.ts'
import { formatCount } from '../../model/words/numbers.ts'
import { emptyRoute, formatRoute } from '../../model/shell/route.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { CutText } from '../../parts/cutText.tsx'

export interface CompareRowProps {
  readonly inspector: Inspector
  readonly row: ComparedRow
  /** Ids of the agents. */
  readonly left: string
  readonly right: string
}

/** Messages side by side: equal ones once, different ones with their words compared, and those of one side alone. */
export function CompareRow({ row, left, right }: CompareRowProps): JSX.Element {
  const { left: one, right: other, isSame } = row
  const parts = useMemo(
    () =>
      one === undefined || other === undefined || isSame
        ? undefined
        : wordDiff(messageWords(one.message), messageWords(other.message)),
    [one?.message, other?.message],
  )
  if (isSame)
    return (
      <div class="compare-pair is-same">
        <Side node={one} agentId={left} name="A = B" />
      </div>
    )
  return (
    <div class="compare-pair">
      <Side node={one} agentId={left} name="A" parts={parts && shownParts(parts, 'removed')} />
      <Side node={other} agentId={right} name="B" parts={parts && shownParts(parts, 'added')} />
    </div>
  )
}

const roles = { user: 'User', assistant: 'Assistant', toolResult: 'Result' } as const

interface SideProps {
  readonly node: ConversationNode | undefined
  readonly agentId: string
  readonly name: string
  /** Parts of the message's text, if it is compared with the message on the other side. */
  readonly parts?: readonly ShownPart[] | undefined
}

function Side({ node, agentId, name, parts }: SideProps): JSX.Element {
  if (node === undefined)
    return (
      <div class="compare-side is-empty faint small">
        <span class="hidden">{name}: </span>no message
      </div>
    )
  const { message, id } = node
  const words = parts === undefined ? messageWords(message) : ''
  return (
    <div class={`compare-side is-${message.role}`}>
      <p class="compare-head small">
        <span class="badge">{name}</span>
        <strong>{roles[message.role]}</strong>
        {message.role === 'toolResult' ? <span class="mono cut">{message.toolName}</span> : null}
        {message.role === 'toolResult' && message.isError ? <span class="badge bad">failed</span> : null}
        <span class="grow" />
        <a class="mono" href={formatRoute({ ...emptyRoute, agent: agentId, node: id })}>
          {formatNodeId(id)}
        </a>
      </p>
      {parts === undefined ? (
        words === '' ? (
          <p class="faint small">no text</p>
        ) : (
          <CutText text={words} most={1_200} />
        )
      ) : (
        <pre class="text" dir="auto">
          {parts.map(drawPart)}
        </pre>
      )}
      {parts !== undefined && messageWords(message).length >= mostCompared ? (
        <p class="faint small">Compared up to {formatCount(mostCompared)} characters.</p>
      ) : null}
    </div>
  )
}

function drawPart(part: ShownPart, key: number): JSX.Element {
  if (part.type === 'gap')
    return <span key={key} class="faint compare-gap">{`⋯ ${formatCount(part.chars)} identical characters ⋯`}</span>
  const text = forDisplay(part.text)
  if (part.type === 'removed') return <del key={key}>{text}</del>
  return part.type === 'added' ? <ins key={key}>{text}</ins> : <span key={key}>{text}</span>
}
