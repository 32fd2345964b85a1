import type { NodeId } from '../../../protocol/ids.ts'
import { toolCallsOf, type ToolResultMessage } from '../../../protocol/messages.ts'
import type { Kept, UndoCall, UndoPlan } from '../../../protocol/undo.ts'
import { nodesBehind } from '../../tree/abandonedNodes.ts'
import { oneLine } from '../../../protocol/text/cutMiddle.ts'
import { isStanding, type ConversationNode } from '../../tree/node.ts'

/**
 * Returns the known effects of the calls of a tool; `undefined` if unknown, `'agent'` for a sub-agent that may change
 * something, `'calls'` for the effects of the calls that it makes.
 */
export type EffectsOf = (
  tool: string,
) => 'none' | 'idempotent' | 'reversible' | 'irreversible' | 'agent' | 'calls' | undefined

interface UndoSubject {
  node(id: NodeId): ConversationNode | undefined
  /** Id of the first node after the past that a fork shares. */
  readonly ownFrom: NodeId
  /** Id of the last imported node; 0 if there is none. */
  readonly foreignTo: NodeId
  readonly annotations?: { isWorking(id: NodeId): boolean } | undefined
}

interface Found extends UndoCall {
  readonly seq: number
  /** Reason why the call cannot be undone; `undefined` if it can. */
  readonly why: string | undefined
}

/**
 * Plans the undoing of a span and of the branches abandoned within it: the calls to undo, the newest first, and those that cannot be undone. Pure.
 */
export function planUndo(conversation: UndoSubject, span: readonly ConversationNode[], effectsOf: EffectsOf): UndoPlan {
  const nodes = nodesBehind(
    span.map(({ id }) => id),
    (id) => conversation.node(id),
  )
  const found = nodes.flatMap((node) => describe(conversation, node, effectsOf) ?? [])
  // Calls that are undone together are never undone in part.
  const bound = new Map(
    found.flatMap(({ what, together, why }) => (together && why !== undefined ? [[what, why]] : [])),
  )
  const whyOf = ({ what, together, why }: Found): string | undefined => why ?? (together ? bound.get(what) : undefined)
  return {
    calls: found
      .filter((one) => whyOf(one) === undefined)
      .toSorted((a, b) => b.seq - a.seq)
      .map(({ call, what, together }) => (together ? { call, what, together } : { call, what })),
    kept: keptOf(
      found.flatMap((one) => {
        const why = whyOf(one)
        return why === undefined ? [] : { what: one.what, why }
      }),
    ),
  }
}

function describe(conversation: UndoSubject, node: ConversationNode, effectsOf: EffectsOf): Found | undefined {
  const { id, message, isIrreversible, reversible } = node
  // A copy of an abandoned step is no call.
  if (message.role !== 'toolResult' || node.copiedFrom !== undefined) return undefined
  const effects = effectsOf(message.toolName)
  if (reversible === undefined) {
    const why = whyNever(message, isIrreversible === true ? 'irreversible' : effects)
    return why === undefined ? undefined : { call: id, seq: 0, what: describeCall(conversation, node, message), why }
  }
  if (!isStanding(node)) return undefined
  const of = message.receipt?.of
  const what = of ?? describeCall(conversation, node, message)
  const why =
    id <= conversation.foreignTo
      ? 'it was done where this session was imported from'
      : id < conversation.ownFrom
        ? 'it was done by the agent that this one was forked from'
        : effects !== 'reversible' && effects !== 'calls'
          ? 'there is no tool any more that could undo it'
          : isUnknown(message, effects) || conversation.annotations?.isWorking(id) === true
            ? 'it was cut short, and it is not known what it did'
            : undefined
  return { call: id, seq: reversible.seq, what, why, ...(of === undefined ? {} : { together: true }) }
}

/** Returns true if it is not known what a call did. An aborted call is known by the receipt that its tool had kept by then. */
const isUnknown = ({ synthetic, receipt }: ToolResultMessage, effects: ReturnType<EffectsOf>): boolean =>
  synthetic !== undefined && (synthetic !== 'aborted' || receipt === undefined || effects !== 'reversible')

/** Returns the reason why a call without undo stays as it is; `undefined` if there is nothing to undo. */
function whyNever(message: ToolResultMessage, effects: ReturnType<EffectsOf>): string | undefined {
  if (effects === 'irreversible' && wasStarted(message)) return 'it cannot be undone'
  const changed = (message.changed?.length ?? 0) > 0
  if (effects === 'calls') return changed ? 'its tools have no undo' : undefined
  if (effects === 'none' || !(changed || (wasStarted(message) && !message.isError))) return undefined
  if (effects === 'agent') return 'the work of sub-agents is not undone'
  return effects === undefined && !changed ? undefined : 'its tool has no undo'
}

const wasStarted = ({ synthetic }: ToolResultMessage): boolean =>
  synthetic !== 'denied' && synthetic !== 'skipped' && synthetic !== 'refused' && synthetic !== 'answered'

function describeCall(conversation: UndoSubject, node: ConversationNode, message: ToolResultMessage): string {
  const calls = toolCallsOf(conversation.node(node.stepId)?.message.content ?? [])
  const { input } = node.ranWith ?? calls.find(({ callId }) => callId === message.callId) ?? {}
  return `${oneLine(message.toolName, 64)} ${oneLine(message.calls ?? JSON.stringify(input) ?? '', 100)}`
}

/** Returns each distinct entry once, with its number of occurrences. */
function keptOf(found: readonly Kept[]): Kept[] {
  const counts = new Map<string, { readonly kept: Kept; count: number }>()
  for (const { what, why } of found) {
    const key = JSON.stringify([what, why])
    const known = counts.get(key) ?? { kept: { what, why }, count: 0 }
    counts.set(key, known)
    known.count += 1
  }
  return [...counts.values()].map(({ kept, count }) =>
    count === 1 ? kept : { ...kept, what: `${kept.what} (${count} times)` },
  )
}
