import type { ConversationNode } from '../../../../src/conversation/tree/node.ts'
import { formatNodeId, type NodeId } from '../../../../src/protocol/ids.ts'
import { artifactName } from '../../../../src/protocol/artifacts/artifact.ts'
import { countMedia, providedText, textOf, toolCallsOf, totalTokens } from '../../../../src/protocol/messages.ts'
import type { SessionRun, SessionCall, TrunkChange, Turn } from '../../../sessions/src/session.ts'
import { byPolicy, counted, duration, savings, whole } from '../../../charts/src/amounts.ts'
import { brakeLines } from '../../../words/src/brakes/brakeLines.ts'
import { paintStatus, type Colours } from './colours.ts'
import { shortRunId } from './sessionText.ts'
import { oneLine, shortened, withoutMiddle } from '../../../charts/src/plainText.ts'
import { replyLines } from './reply/wholeReply.ts'
import { callLine, outcomeLine } from '../../../charts/src/toolLine.ts'

export interface TurnScene {
  readonly run: SessionRun
  readonly turn: Turn
  readonly nodes: ReadonlyMap<NodeId, ConversationNode>
}

const maxResultLines = 12
const maxTextLines = 60
const leastColumns = 12

/** Returns the lines of one turn: the messages sent, the model's reply, and the results of its calls. */
export function turnLines({ run, turn, nodes }: TurnScene, colours: Colours, columns: number): string[] {
  const { index, status, input, reply, toolCalls, attempts, usage, startedAt, endedAt, changes } = turn
  const facts = [
    `run ${shortRunId(run.id)} (${run.cause})`,
    paintStatus(status, colours)(status),
    ...(attempts === 1 ? [] : [counted(attempts, 'attempt')]),
    `${whole(totalTokens(usage))} tokens`,
    ...(endedAt === undefined ? [] : [duration(endedAt - startedAt)]),
  ]
  const said = (id: NodeId): string => {
    const content = nodes.get(id)?.message.content ?? []
    const media = countMedia(content)
    const provided = content.flatMap((block) => (block.type === 'provider' ? [`[${providedText(block)}]\n`] : []))
    return (provided.join('') + textOf(content) + (media === '' ? '' : `\n[${media}]`)).trim()
  }
  const text = (id: NodeId): string[] =>
    said(id) === '' ? [] : shortened(said(id), { indent: '  ', columns, maxLines: maxTextLines })
  /** Returns a reply as it was shown while it streamed. */
  const replyText = (id: NodeId): string[] => {
    if (colours.theme === 'none') return text(id)
    const indent = '  '
    const room = Math.max(leastColumns, columns - indent.length)
    const lines = replyLines(said(id), { colours, hasLinks: false }, room)
    return withoutMiddle(
      lines.map((line) => (line === '' ? '' : indent + line)),
      indent,
      maxTextLines,
    )
  }
  const replied = reply === undefined ? undefined : nodes.get(reply)
  const section = (title: string, lines: readonly string[]): string[] => ['', colours.bold(title), ...lines]
  return [
    `${colours.bold(`Turn ${index + 1}`)} · ${facts.join(' · ')}`,
    ...input.flatMap(({ nodeId, source }) => section(`Said ${formatNodeId(nodeId)} (${source})`, text(nodeId))),
    ...(reply === undefined
      ? section('No reply', [])
      : section(`Reply ${formatNodeId(reply)}`, [...thoughtsOf(replied, colours, columns), ...replyText(reply)])),
    ...(toolCalls.length === 0
      ? []
      : section(
          'Calls',
          toolCalls.flatMap((call) => callLines(call, { replied, nodes, colours, columns })),
        )),
    ...(changes.length === 0
      ? []
      : section(
          'What it did to the conversation',
          changes.map((change) => `  ${changeLine(change)}`),
        )),
  ]
}

function thoughtsOf(node: ConversationNode | undefined, colours: Colours, columns: number): string[] {
  const thoughts = (node?.message.content ?? []).flatMap((block) => (block.type === 'thinking' ? [block.text] : []))
  const lines = shortened(thoughts.join('\n'), { indent: '  ', columns, maxLines: maxResultLines })
  return thoughts.join('') === '' ? [] : lines.map((line) => colours.dim(line))
}

interface CallScene {
  readonly replied: ConversationNode | undefined
  readonly nodes: TurnScene['nodes']
  readonly colours: Colours
  readonly columns: number
}

function callLines(call: SessionCall, { replied, nodes, colours, columns }: CallScene): string[] {
  const { callId, name, status, nodeId } = call
  const made = toolCallsOf(replied?.message.content ?? []).find((block) => block.callId === callId)
  const line = callLine(name, made?.input ?? {})
  const message = nodeId === undefined ? undefined : nodes.get(nodeId)?.message
  if (message?.role !== 'toolResult') return [`  ${colours.yellow('…')} ${line} ${colours.dim(`· ${status}`)}`]
  const mark = message.isError ? colours.red('✗') : colours.green('✓')
  const changed = (message.changed ?? []).map(oneLine).join(', ')
  const outcome = [
    outcomeLine({ name, message }),
    formatNodeId(nodeId!),
    ...(changed === '' ? [] : [`changed ${changed}`]),
    ...(message.artifacts ?? []).map(
      (kept) => `kept ${artifactName(kept)}, ${kept.mimeType}, ${counted(kept.bytes, 'byte')}`,
    ),
  ]
  const result = shortened(textOf(message.content), { indent: '      ', columns, maxLines: maxResultLines })
  return [`  ${mark} ${line} ${colours.dim(`· ${outcome.join(' · ')}`)}`, ...result.map((shown) => colours.dim(shown))]
}

/** Describes how the trunk was changed, in one sentence. */
export function changeLine(change: TrunkChange): string {
  const { applied, type, economics, reason = '' } = change
  const name = 'shown' in change ? 'show' : 'masked' in change ? 'mask' : type
  if (!applied) return `no ${name}: ${oneLine(reason)}`
  return `${whatChanged(change)}${economics === undefined ? '' : ` · ${savings(economics)}`}`
}

function whatChanged(change: TrunkChange): string {
  switch (change.type) {
    case 'revert':
      return `revert to ${change.target === undefined ? '?' : formatNodeId(change.target)} (${change.category})${byPolicy(change.policy)}`
    default:
      return brakeLines.changeLine[change.type](change)
    case 'prune':
      if (change.shown === true)
        return `show of ${change.steps.map(formatNodeId).join(', ')}: ${whole(change.tokens)} tokens shown again`
      return `${change.masked === true ? 'mask' : 'prune'} of ${change.steps.map(formatNodeId).join(', ')}: ${whole(change.tokens)} tokens hidden${byPolicy(change.policy)}`
    case 'compaction': {
      const span = [change.from, change.to].map((id) => (id === undefined ? '?' : formatNodeId(id))).join('–')
      return `compaction of ${span}: ${whole(change.tokensBefore)} → ${whole(change.tokensAfter)} tokens`
    }
  }
}
