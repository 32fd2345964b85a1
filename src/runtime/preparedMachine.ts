import type { ActorRefFrom } from 'xstate'
import type { AgentPorts } from '../actors/agentPorts.ts'
import { openChild, watchChild } from '../actors/calls/openChild.ts'
import { sleep } from '../actors/timing/sleep.ts'
import { agentMachine } from '../machines/agentMachine.ts'
import type { SubAgentLogic } from '../machines/agentSetup.ts'
import { supervisorMachine } from '../machines/supervisorMachine.ts'
import type { Clock } from '../protocol/ports/clock.ts'
import type { RecordDraft } from '../protocol/records.ts'
import { agentEffects } from './agentEffects.ts'
import type { Interpreter } from './interpreter/interpreter.ts'

/** Parts of a runtime that its machines use. */
interface Reach {
  readonly clock: Clock
  readonly interpreter: Interpreter
  find(agentId: string): AgentPorts & { record(record: RecordDraft): void }
  /** Called when an agent's actor runs. */
  attach(agentId: string, actor: ActorRefFrom<typeof agentMachine>): void
}

/** The machine of all agents of a runtime, made once because every `provide` rebuilds the chart. */
export function preparedMachine({ clock, interpreter, find, attach }: Reach): typeof agentMachine {
  const supervisor = interpreter.prepare(
    supervisorMachine.provide({
      actors: { openChild: openChild(find), watchChild: watchChild(find), sleep: sleep(clock) },
    }),
  )
  const machine = interpreter.prepare(
    agentMachine.provide({
      actors: {
        ...agentEffects(find, clock),
        subAgent: supervisor as unknown as SubAgentLogic,
      },
      actions: {
        attach: ({ context, self }) => attach(context.agentId, self as ActorRefFrom<typeof agentMachine>),
        record: ({ context }: { context: { agentId: string } }, record: RecordDraft) =>
          find(context.agentId).record(record),
      },
    }),
  )
  // The two machines contain each other.
  supervisor.implementations.actors['agent'] = machine
  return machine
}
