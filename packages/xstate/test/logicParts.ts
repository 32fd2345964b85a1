import { type Actor, createActor, type InspectionEvent, toPromise } from 'xstate'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../define/src/defineAgent.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import { createRuntime, type Runtime } from '../../bridge/src/createRuntime.ts'
import type { Model, ModelRequest } from '../../../src/protocol/ports/model.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { agentLogic, type AgentLogic, type AgentLogicInput } from '../../../src/xstate.ts'
import type { AgentLogicOptions } from '../src/agentLogic.ts'
import { delta, done, gate, tool } from '../../../test/support/agentHarness.ts'
import { lateStore } from '../../../test/support/lateStore.ts'
import { sharedStore } from '../../../test/support/sharedStore.ts'
import type { CaseContext } from '../../../test/support/suite.ts'

/** A runtime over a store that outlives it; its answers come late, as those of a database do. */
export async function begin(
  { cleanup }: CaseContext,
  store: Store = lateStore(),
  options: object = {},
): Promise<Runtime> {
  const runtime = await createRuntime({ store: sharedStore(store), ...options })
  cleanup(() => runtime.close().catch(() => {}))
  return runtime
}

/** Says how many messages it was asked with. */
export const talker = defineAgent({
  name: 'talker',
  model: policyModel(({ messages }) => `answer ${messages.length}`),
})

/** A model that says one word and then waits: every request is held until it is let go, or for good. */
export class HeldModel implements Model {
  readonly id = 'test:held'
  readonly requests: ModelRequest[] = []
  /** Requests whose signal was aborted. */
  aborts = 0
  #begun = gate()
  #held = gate()

  async *stream(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): ReturnType<Model['stream']> {
    this.requests.push(request)
    const aborted = gate()
    signal.addEventListener('abort', () => {
      this.aborts += 1
      aborted.resolve()
    })
    yield delta('well ')
    this.#begun.resolve()
    await Promise.race([this.#held.promise, aborted.promise])
    if (signal.aborted) return
    yield done([{ type: 'text', text: `well done ${request.messages.length}` }])
  }

  /** Resolves once the first word of a request is out. */
  get begun(): Promise<void> {
    return this.#begun.promise
  }

  /** Lets all requests through, those to come too. */
  release(): void {
    this.#held.resolve()
  }
}

/** An agent whose replies a test holds. */
export function held() {
  const model = new HeldModel()
  return { model, definition: defineAgent({ name: 'talker', model }) }
}

/** Asks to have `act` approved, then says what came of it. */
export const asker = (name = 'asker', ran: string[] = []) =>
  defineAgent({
    name,
    description: 'Asks first.',
    tools: [tool('act', () => (ran.push(name), 'acted'), { needsApproval: true })],
    model: policyModel(({ messages }) =>
      messages.at(-1)?.role === 'toolResult' ? 'it is done' : { toolCalls: [{ name: 'act', input: {} }] },
    ),
  })

/** Calls `asker` and passes on what it says. */
export const boss = () =>
  defineAgent({
    name: 'boss',
    agents: [asker('worker')],
    model: policyModel(({ messages }) =>
      messages.at(-1)?.role === 'toolResult' ? 'all done' : { toolCalls: [{ name: 'worker', input: { task: 'x' } }] },
    ),
  })

type Running = Actor<AgentLogic>

/** An actor of a definition, not started yet. An error is for the test to look at. */
export function actorOf(
  runtime: Runtime,
  definition: AgentDefinition,
  input: AgentLogicInput,
  options: AgentLogicOptions & {
    readonly snapshot?: unknown
    readonly inspect?: (event: InspectionEvent) => void
  } = {},
): Running {
  const { snapshot, inspect, ...rest } = options
  const given = snapshot === undefined ? {} : { snapshot: snapshot as never }
  const watched = inspect === undefined ? {} : { inspect }
  const actor: Running = createActor(agentLogic(runtime, definition as AgentDefinition<unknown, unknown>, rest), {
    input,
    ...given,
    ...watched,
  })
  actor.subscribe({ error: () => {} })
  return actor
}

/** How an actor ends: with its output, or what it failed with. */
export const ending = (actor: Running) => toPromise(actor)

/** Snapshot that a process would have if it persisted the actor now. */
export const kept = (actor: { getPersistedSnapshot(): unknown }): unknown =>
  JSON.parse(JSON.stringify(actor.getPersistedSnapshot()))
