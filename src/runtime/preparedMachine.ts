import type { ActorRefFrom } from 'xstate'
import { openChild, watchChild } from '../actors/calls/openChild.ts'
import { sleep } from '../actors/timing/sleep.ts'
import { agentMachine } from '../machines/agentMachine.ts'
import type { SubAgentLogic } from '../machines/agentSetup.ts'
import { supervisorMachine } from '../machines/supervisorMachine.ts'
import type { Clock } from '../protocol/ports/clock.ts'
import type { RecordDraft } from '../protocol/records.ts'
import type { Hosts } from './hosts.ts'
import type { Interpreter } from './interpreter/interpreter.ts'
import type { FindPorts } from '../actors/agentPorts.ts'
import { askHook } from '../actors/calls/askHook.ts'
import { compactTrunk } from '../actors/brakes/compaction/compactTrunk.ts'
import { consultPolicies } from '../actors/brakes/policies/consultPolicies.ts'
import { drains } from '../actors/brakes/drains.ts'
import { prepareTurn } from '../actors/turn/prepareTurn.ts'
import { runTool } from '../actors/calls/runTool.ts'
import { settle } from '../actors/turn/settle.ts'
import { streamReply } from '../actors/turn/streamReply.ts'
import { undoCall } from '../actors/calls/undoCall.ts'

/** Parts of a runtime that its machines use. */
interface Reach {
  readonly clock: Clock
  readonly interpreter: Interpreter
  readonly hosts: Hosts
  /** An agent's actor runs. */
  attach(agentId: string, actor: ActorRefFrom<typeof agentMachine>): void
}

/** The machine of all agents of a runtime, made once because every `provide` rebuilds the chart. */
export function preparedMachine({ clock, interpreter, hosts, attach }: Reach): typeof agentMachine {
  const supervisor = interpreter.prepare(
    supervisorMachine.provide({
      actors: { openChild: openChild(hosts.ports), watchChild: watchChild(hosts.ports), sleep: sleep(clock) },
    }),
  )
  const machine = interpreter.prepare(
    agentMachine.provide({
      actors: {
        ...agentEffects(hosts.ports, clock),
        subAgent: supervisor as unknown as SubAgentLogic,
      },
      actions: {
        attach: ({ context, self }) => attach(context.agentId, self as ActorRefFrom<typeof agentMachine>),
        record: ({ context }: { context: { agentId: string } }, records: readonly RecordDraft[]) =>
          hosts.record(context.agentId, records),
      },
    }),
  )
  // The two machines contain each other.
  supervisor.implementations.actors['agent'] = machine
  return machine
}

/** The effects of agents, as `agentMachine` names them; but for sub-agents, which are machines. */
export const agentEffects = (find: FindPorts, clock: Clock) => ({
  prepareTurn: prepareTurn(find),
  streamReply: streamReply(find),
  askHook: askHook(find),
  runTool: runTool(find),
  settle: settle(find),
  compactTrunk: compactTrunk(find),
  sleep: sleep(clock),
  undoCall: undoCall(find),
  ...drains(find),
  consultPolicies: consultPolicies(find),
})
