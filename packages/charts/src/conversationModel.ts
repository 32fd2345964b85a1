import { Conversation } from '../../../src/conversation/tree/conversation.ts'
import type { ConversationView } from '../../../src/conversation/tree/conversationView.ts'
import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import type { ConversationNode } from '../../../src/conversation/tree/node.ts'
import type { Evidence, PruneOutcome, TagKind } from '../../../src/protocol/braking.ts'
import { formatNodeId, type NodeId } from '../../../src/protocol/ids.ts'
import { textOf, toolCallsOf, type Message } from '../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { callLine, outcomeLine } from './toolLine.ts'
import { oneLine } from './plainText.ts'

/** A note that a revert left after a step. */
export interface GraphTag {
  readonly kind: TagKind
  readonly text: string
  /** Nodes that the revert took off the trunk. */
  readonly abandoned: readonly NodeId[]
  readonly evidence: Evidence
  /** The policy that planned the revert. */
  readonly policy?: string
}

/** A sub-agent started in a step. */
export interface GraphLink {
  readonly agentId: string
  /** Id of the call that the sub-agent carries out. Unset if code started it. */
  readonly callId?: string
}

/** A step of the conversation: nodes that are kept or abandoned as a whole. */
export interface GraphStep {
  /** Id of the step's first node: `n12`. */
  readonly id: string
  readonly nodes: readonly NodeId[]
  /** Id of the step that it follows. */
  readonly parent?: string
  readonly role: Message['role']
  /** Description in a few words. Contains no secret that the log does not hold. */
  readonly label: string
  readonly turnIndex: number
  readonly runId: string
  /** Estimated number of tokens. */
  readonly tokens: number
  readonly isOnTrunk: boolean
  /** Id of the prune that hides the step from the model. */
  readonly hiddenBy?: string
  /** True if the model is shown the step without the content of its results. */
  readonly isMasked?: true
  /** The policy that masked the step's results. */
  readonly maskedBy?: string
  /** True if no prune, mask, fold or compaction may hide it. */
  readonly isPinned?: true
  /** Node whose words the step repeats, after a revert took that node off the trunk. */
  readonly rebasedFrom?: NodeId
  /** The step that it is a copy of: its second parent. */
  readonly copiedFrom?: string
  readonly tags: readonly GraphTag[]
  readonly agents: readonly GraphLink[]
}

export interface GraphPrune {
  readonly id: string
  /** Ids of the steps. */
  readonly steps: readonly string[]
  readonly tokens: number
  readonly memo?: string
  /** The policy that chose the steps. */
  readonly policy?: string
}

/** A summary in place of a span of the trunk. */
export interface GraphCompaction {
  readonly id: string
  /** Ids of the first and last step that the summary stands for. */
  readonly from: string
  readonly to: string
  readonly summary: string
  /** True if the model is currently shown the summary. */
  readonly isInForce: boolean
  /** True if no other summary may take its place. */
  readonly isPinned?: true
}

/** A conversation with all that was ever tried, as plain JSON. */
export interface ConversationModel {
  readonly title: string
  readonly head: NodeId | null
  /** Steps, oldest first: a step comes after the one it follows. */
  readonly steps: readonly GraphStep[]
  readonly prunes: readonly GraphPrune[]
  readonly compactions: readonly GraphCompaction[]
  /** Sub-agents whose step is not known. */
  readonly agents: readonly GraphLink[]
}

export interface ConversationSource {
  readonly title?: string
  readonly conversation: Pick<ConversationView, 'trunk' | 'abandoned'> &
    Partial<Pick<ConversationView, 'pins' | 'masks'>>
  /** Records of the log, preceded by those of a shared past. Source of sub-agents, prunes and compactions no longer in force. */
  readonly records?: Iterable<LogRecord>
  /** Sub-agents that are alive. */
  readonly agents?: readonly string[]
}

const maxTextChars = 70

/** Returns the graph of a conversation, in time linear in its length. Pure, and without Node. */
export function conversationModel(source: ConversationSource): ConversationModel {
  const { conversation, title = 'conversation', records, agents = [] } = source
  const trunk = conversation.trunk()
  const onTrunk = new Set(trunk.map(({ id }) => id))
  const nodes = [...trunk, ...conversation.abandoned()].toSorted((a, b) => a.id - b.id)
  const stepOf = new Map<NodeId, NodeId>()
  const groups = new Map<NodeId, ConversationNode[]>()
  for (const node of nodes) {
    stepOf.set(node.id, node.stepId)
    const group = groups.get(node.stepId)
    if (group === undefined) groups.set(node.stepId, [node])
    else group.push(node)
  }
  const pinned = new Set(conversation.pins?.())
  const { prunes, masked, planned, compactions, links, spawned } = annotationsOf(conversation, records, {
    stepOf,
    pinned,
  })
  const hidden = new Map(prunes.flatMap(({ id, steps }) => steps.map((step) => [step, id] as const)))
  const steps = [...groups].map(([stepId, group]): GraphStep => {
    const first = group[0]!
    const id = formatNodeId(stepId)
    const parent = first.parentId === null ? undefined : stepOf.get(first.parentId)
    const calls = first.message.role === 'assistant' ? toolCallsOf(first.message.content) : []
    const { turnIndex, runId, rebasedFrom, copiedFrom } = first
    const hiddenBy = hidden.get(id)
    const isMasked = hiddenBy === undefined && masked.has(stepId)
    return {
      id,
      nodes: group.map((node) => node.id),
      ...(parent === undefined ? {} : { parent: formatNodeId(parent) }),
      role: first.message.role,
      label: labelOf(group),
      turnIndex,
      runId,
      tokens: group.reduce((sum, node) => sum + node.tokens, 0),
      isOnTrunk: onTrunk.has(first.id),
      ...(hiddenBy === undefined ? {} : { hiddenBy }),
      ...(isMasked ? { isMasked, ...maskedByOf(masked.get(stepId)) } : {}),
      ...(pinned.has(stepId) ? { isPinned: true } : {}),
      ...(rebasedFrom === undefined ? {} : { rebasedFrom }),
      ...(copiedFrom === undefined ? {} : { copiedFrom: formatNodeId(stepOf.get(copiedFrom) ?? copiedFrom) }),
      tags: group.flatMap(({ id: nodeId, tags }) =>
        tags.map(({ kind, text, abandoned, evidence }) => {
          const policy = planned.get(tagKey(nodeId, abandoned))
          return { kind, text, abandoned, evidence, ...(policy === undefined ? {} : { policy }) }
        }),
      ),
      agents: calls.flatMap(({ callId }) => {
        const agentId = links.get(callId)
        return agentId === undefined ? [] : [{ agentId, callId }]
      }),
    }
  })
  const placed = new Set(links.values())
  return {
    title,
    head: trunk.at(-1)?.id ?? null,
    steps,
    prunes,
    compactions,
    agents: [...new Set([...spawned, ...agents])].filter((id) => !placed.has(id)).map((agentId) => ({ agentId })),
  }
}

interface LogAnnotations {
  readonly prunes: readonly GraphPrune[]
  /** Steps with masked results, by their first node, with the policy that masked them. */
  readonly masked: ReadonlyMap<NodeId, string | undefined>
  /** Policies that planned reverts, by the keys of the tags that the reverts left. */
  readonly planned: ReadonlyMap<string, string>
  readonly compactions: readonly GraphCompaction[]
  /** Sub-agents by call. */
  readonly links: ReadonlyMap<string, string>
  /** Ids of sub-agents that code started. */
  readonly spawned: readonly string[]
}

function annotationsOf(
  conversation: ConversationSource['conversation'],
  records: Iterable<LogRecord> | undefined,
  { stepOf, pinned }: { readonly stepOf: ReadonlyMap<NodeId, NodeId>; readonly pinned: ReadonlySet<NodeId> },
): LogAnnotations {
  const live = conversation instanceof Conversation ? conversation : undefined
  const prunes = new Map<string, GraphPrune>()
  const masked = new Map<NodeId, string | undefined>(conversation.masks?.().map((id) => [id, undefined]))
  const asked = new Map<string, string>()
  const planned = new Map<string, string>()
  const compactions = new Map<NodeId, GraphCompaction>()
  const links = new Map<string, string>()
  const spawned: string[] = []
  const nameOf = (id: NodeId): string => formatNodeId(stepOf.get(id) ?? id)
  const addPrune = (outcome: Pick<PruneOutcome, 'id' | 'steps' | 'tokens' | 'memo' | 'policy'>): void => {
    const { id, steps, tokens, memo, policy = prunes.get(id)?.policy } = outcome
    const rest = { ...(memo === undefined ? {} : { memo }), ...(policy === undefined ? {} : { policy }) }
    prunes.set(id, { id, steps: steps.map(nameOf), tokens, ...rest })
  }
  /** Removes steps that are shown again from the prunes and masks that hid them. */
  const takeBack = (steps: readonly NodeId[]): void => {
    const shown = new Set(steps.map(nameOf))
    for (const id of steps) masked.delete(id)
    for (const [id, prune] of prunes) {
      const left = prune.steps.filter((step) => !shown.has(step))
      if (left.length === 0) prunes.delete(id)
      else if (left.length < prune.steps.length) prunes.set(id, { ...prune, steps: left })
    }
  }
  const inForce = live?.overlay?.nodeId
  const addOverlay = (overlay: { nodeId: NodeId; from: NodeId; to: NodeId; summary: string }): void => {
    const { nodeId, from, to, summary } = overlay
    const isPinned = pinned.has(nodeId) ? ({ isPinned: true } as const) : {}
    const span = { from: nameOf(from), to: nameOf(to) }
    compactions.set(nodeId, { id: formatNodeId(nodeId), ...span, summary, isInForce: nodeId === inForce, ...isPinned })
  }
  for (const record of records ?? []) {
    if (record.type === 'prune.applied' && record.applied && record.masked === true)
      for (const id of record.steps) masked.set(id, record.policy)
    else if (record.type === 'prune.applied' && record.applied && record.shown === true) takeBack(record.steps)
    else if (record.type === 'prune.applied' && record.applied) addPrune(record)
    else if (record.type === 'revert.requested' && record.request.policy !== undefined)
      asked.set(record.request.id, record.request.policy)
    else if (record.type === 'revert.applied' && asked.has(record.id) && record.target !== undefined)
      planned.set(tagKey(record.target, record.tag?.abandoned ?? []), asked.get(record.id)!)
    else if (record.type === 'compaction.end' && record.applied && record.overlay !== undefined)
      addOverlay(record.overlay)
    else if (record.type === 'tool.start' && record.childId !== undefined) links.set(record.callId, record.childId)
    else if (record.type === 'child.spawned' && record.incognito !== true) spawned.push(record.childId)
  }
  for (const span of live?.annotations?.hidden.spans ?? []) addPrune(span)
  if (live?.overlay !== undefined) addOverlay(live.overlay)
  return { prunes: [...prunes.values()], masked, planned, compactions: [...compactions.values()], links, spawned }
}

/** Returns the key of a tag. No two reverts that abandon the same nodes leave their tags at one node. */
const tagKey = (target: NodeId, abandoned: readonly NodeId[]): string => `${target} ${abandoned.join()}`

const maskedByOf = (policy: string | undefined): Pick<GraphStep, 'maskedBy'> =>
  policy === undefined ? {} : { maskedBy: policy }

/** Shortens a text to one line. A long text is cut before it is cleaned, so that no more is cleaned than can be shown. */
const cut = (text: string): string => cutEnd(oneLine(cutEnd(text, 4 * maxTextChars)), maxTextChars)

/** Describes a step in a few words: its text, or its calls and their outcomes. */
function labelOf(nodes: readonly ConversationNode[]): string {
  const { message } = nodes[0]!
  const calls = message.role === 'assistant' ? toolCallsOf(message.content) : []
  if (calls.length === 0) return `${message.role}: ${cut(textOf(message.content))}`
  const results = new Map(
    nodes.flatMap((node) => (node.message.role === 'toolResult' ? [[node.message.callId, node.message] as const] : [])),
  )
  return calls
    .map(({ callId, name, input }) => {
      const result = results.get(callId)
      const outcome = result === undefined ? '' : ` · ${outcomeLine({ name, message: result })}`
      return callLine(name, input) + outcome
    })
    .join('; ')
}
