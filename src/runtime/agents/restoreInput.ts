import type { AgentPorts, TurnPlace } from '../../actors/agentPorts.ts'
import { needsApproval } from '../../actors/calls/needsApproval.ts'
import { runContext } from '../../actors/calls/runContext.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import { settledInput } from '../../actors/calls/callArguments.ts'
import { isRedacted } from '../../protocol/ports/redactor.ts'
import type { Conversation } from '../../conversation/tree/conversation.ts'
import type { AgentInput, CallState, FrameState } from '../../machines/agentTypes.ts'
import type { Metadata } from '../../protocol/metadata.ts'
import { backgroundCalls } from '../../machines/background.ts'
import { openQueues } from '../../machines/brakes.ts'
import { emptyBrakeQueues } from '../../protocol/brakes/brakeTable.ts'
import { withoutUse } from '../../machines/frames.ts'
import { rebuildContext, type FoldedContext } from '../../machines/rebuildContext.ts'
import { handedTo } from '../../actors/define/handoffs.ts'
import type { Handoff } from '../../machines/effectTypes.ts'
import type { Handoffs } from './handoffs.ts'
import type { HostOptions } from './hostOptions.ts'
import { callerOf } from '../children/reports.ts'
import type { History } from '../../log/readHistory.ts'

type RestoredPorts = Pick<
  AgentPorts,
  'agentId' | 'path' | 'deps' | 'definition' | 'ownDefinition' | 'frame' | 'callbackFailed'
> & {
  /** True if rules decide about the agent's calls. */
  readonly isGoverned: boolean
  readonly handoffs: Pick<Handoffs, 'pending' | 'endsUse'>
  readonly asking: { restored(frame: FrameState | null): FrameState | null }
}

/** Facts about an agent that are known already. */
interface Known {
  readonly staysPaused?: boolean | undefined
  /** State into which the agent's records were folded. */
  readonly folded?: FoldedContext | undefined
}

type Beginning = Pick<HostOptions, 'link' | 'task'> &
  Known & {
    readonly history: Pick<History, 'past' | 'records'> & { readonly created?: History['created'] | undefined }
  }

/** Returns the input with which an agent's machine is started. */
export function machineInput(
  agent: RestoredPorts & { readonly conversation: Conversation; readonly metadata: Metadata | undefined },
  { history, link = callerOf(history), task, staysPaused, folded }: Beginning,
): AgentInput {
  const { agentId, path, definition, metadata, conversation, isGoverned } = agent
  const { name, snapshot: model, policy } = definition
  return {
    agentId,
    path,
    definition: name,
    model,
    policy,
    ...(isGoverned ? { isGoverned } : {}),
    ...(link === undefined ? {} : { parent: link }),
    ...(task === undefined ? {} : { task }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(conversation.lastSeq === 0
      ? {}
      : { restored: restoreInput(history, conversation, agent, { staysPaused, folded }) }),
  }
}

/** Returns the handoff that the current step will make; `null` if there is none. */
function pendingHandoff({ ownDefinition, handoffs }: RestoredPorts): Handoff | null {
  const to = handoffs.pending
  if (to === undefined) return null
  const { policy, snapshot: model } = handedTo(ownDefinition, to)
  return { to, policy, model }
}

/** Returns the state from which a machine continues its history: the context, and the calls that may run again. */
export function restoreInput(
  { past, records }: Pick<History, 'past' | 'records'>,
  conversation: Conversation,
  ports: RestoredPorts,
  { staysPaused = false, folded }: Known = {},
): NonNullable<AgentInput['restored']> {
  const { definition } = ports
  const { flags } = definition.policy
  const { queues, annotations, head, lastNodeId } = conversation
  const { foreign, ...context } = folded ?? rebuildContext(records, past)
  const { run, pausedRun, turns } = context
  const at = { runId: run?.runId ?? pausedRun ?? '', turnIndex: Math.max(0, turns - 1) }
  return {
    context: {
      ...context,
      calls: context.calls.map((call) => settled(call, definition)),
      head,
      lastNodeId,
      ...queues,
      frame: ports.asking.restored(ports.handoffs.endsUse ? withoutUse(context.frame) : context.frame),
      handoff: pendingHandoff(ports),
      undoing: context.undoing,
      ...(foreign ? { reporters: [] } : {}),
      ...openQueues(annotations?.waiting ?? emptyBrakeQueues, definition),
      compactRequests: [...(annotations?.waiting.compactions ?? [])],
      policyRequests: flags.policies ? [...(annotations?.waiting.policyRequests ?? [])] : null,
      contextTokens: Math.round((ports.frame.frameTokens + conversation.trunkTokens) * conversation.correction),
    },
    unapproved: context.calls.filter((call) => isUnapproved(call, ports, at)).map(({ callId }) => callId),
    mayRerun: [...definition.tools.values()]
      // An agent elsewhere finds the task that it has begun.
      .filter(
        ({ effects, external, asks }) =>
          effects === 'none' || effects === 'idempotent' || external === true || asks !== undefined,
      )
      .map(({ name }) => name),
    staysPaused,
    ...(foreign ? { isForeign: true } : {}),
    redacted: [...context.calls, ...backgroundCalls(context)]
      .filter(({ input }) => isRedacted(input))
      .map(({ callId }) => callId),
  }
}

/** Settles the input of an undecided call. A decided call runs with the input of its decision, or not at all. */
function settled(call: CallState, definition: AgentDefinition): CallState {
  const { status, decision, beforeTool, rule, unfit } = call
  if (status !== 'ready' || (decision ?? beforeTool ?? rule ?? unfit) !== undefined) return call
  const input = settledInput(definition, call)
  return input === call.input ? call : { ...call, input, edited: call.edited ?? 'tool' }
}

/** Returns true if a call that may need approval is undecided, because the process died before it asked. */
function isUnapproved(call: CallState, ports: RestoredPorts, at: TurnPlace): boolean {
  const { status, decision } = call
  const { policy } = ports.definition
  // It is asked for only once rules and `beforeTool` have let the call through.
  const isLater = policy.flags.beforeTool === true || ports.isGoverned
  if (status !== 'ready' || decision !== undefined || isLater) return false
  // An asynchronous predicate is not awaited: better to ask a person once too often than not at all.
  return needsApproval(ports, call, () => runContext(ports, at, new AbortController())) !== false
}
