import { setup, type ActorLogic, type AnyStateMachine, type Snapshot } from 'xstate'
import { askedKinds, drainEffect, type AskedBrake, type DrainEffect } from '../protocol/brakes/brakeTable.ts'
import type { RecordDraft } from '../protocol/records.ts'
import type { AgentContext, AgentInput, AgentMachineEvent } from './agentTypes.ts'
import type {
  CallInput,
  CallOutput,
  HookInput,
  HookOutput,
  PrepareInput,
  PrepareOutput,
  ReplyInput,
  ReplyOutput,
  SettleInput,
  SettleOutput,
  SleepInput,
  SubAgentInput,
} from './effectTypes.ts'
import type {
  CompactInput,
  CompactOutput,
  ConsultInput,
  ConsultOutput,
  DrainInput,
  DrainOutput,
  FoldInput,
  FoldOutput,
  StallCheck,
  StallInput,
  UndoInput,
  UndoOutput,
} from './drainTypes.ts'
import { changeAction } from './change.ts'
import { type Draft, drafted } from './draft.ts'
import * as guards from './conditions.ts'
import { checkEffects, placeholder } from './placeholder.ts'

/** Logic that runs a sub-agent: `supervisorMachine`, which contains this machine. Typed by its shape, because the two contain each other. */
export type SubAgentLogic = ActorLogic<
  Snapshot<CallOutput>,
  { readonly type: 'abort' | 'stop' | 'close' },
  SubAgentInput
>

/** Actors of the request drains, by effect name. */
type Drains = {
  readonly [K in AskedBrake as DrainEffect<K>]: ReturnType<typeof placeholder<DrainOutput<K>, DrainInput<K>>>
}

type Actors = Drains & {
  prepareTurn: ReturnType<typeof placeholder<PrepareOutput, PrepareInput>>
  streamReply: ReturnType<typeof placeholder<ReplyOutput, ReplyInput>>
  askHook: ReturnType<typeof placeholder<HookOutput, HookInput>>
  runTool: ReturnType<typeof placeholder<CallOutput, CallInput>>
  sleep: ReturnType<typeof placeholder<SleepInput, SleepInput>>
  subAgent: SubAgentLogic
  settle: ReturnType<typeof placeholder<SettleOutput, SettleInput>>
  compactTrunk: ReturnType<typeof placeholder<CompactOutput, CompactInput>>
  drainFold: ReturnType<typeof placeholder<FoldOutput, FoldInput>>
  undoCall: ReturnType<typeof placeholder<UndoOutput, UndoInput>>
  drainStall: ReturnType<typeof placeholder<StallCheck, StallInput>>
  consultPolicies: ReturnType<typeof placeholder<ConsultOutput, ConsultInput>>
}

const actors: Actors = {
  prepareTurn: placeholder('prepareTurn'),
  streamReply: placeholder('streamReply'),
  askHook: placeholder('askHook'),
  runTool: placeholder('runTool'),
  sleep: placeholder('sleep'),
  subAgent: placeholder('subAgent') as unknown as SubAgentLogic,
  settle: placeholder('settle'),
  compactTrunk: placeholder('compactTrunk'),
  ...(Object.fromEntries(askedKinds.map(drainEffect).map((src) => [src, placeholder(src)])) as unknown as Drains),
  drainFold: placeholder('drainFold'),
  undoCall: placeholder('undoCall'),
  drainStall: placeholder('drainStall'),
  consultPolicies: placeholder('consultPolicies'),
}

/** Id of the chart, including its version, because a persisted context belongs to one version. */
export const agentMachineId = 'agent@1'

/** Setup that types every state of the agent machine. */
export const agentSetup = setup({
  types: {
    context: {} as AgentContext,
    events: {} as AgentMachineEvent,
    input: {} as AgentInput,
  },
  actors,
  actions: {
    /** Tells the runtime which actor runs the chart. Without a runtime it refuses to run a chart whose effects would do nothing. */
    attach: ({ self }): void => checkEffects((self as unknown as { readonly logic: AnyStateMachine }).logic, actors),
    /** Command to the log: complete records except for their time, idempotent by `seq`. */
    record: (_: unknown, _records: readonly RecordDraft[]): void => {},
  },
  guards,
})

/** Runs a plain function over a draft of the next context, then commits its context, records and children. `E`: the event of the transition. */
export const advance = <E = AgentMachineEvent>(fill: (draft: Draft, event: E) => void) =>
  changeAction<AgentContext, AgentMachineEvent>(agentSetup.enqueueActions, drafted(fill))
