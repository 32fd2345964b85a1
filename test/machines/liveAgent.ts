import { type AnyActorRef, fromPromise } from 'xstate'
import { agentMachine } from '../../src/machines/agentMachine.ts'
import type { AgentPolicy } from '../../src/machines/agentPolicy.ts'
import type { RecordDraft } from '../../src/protocol/records.ts'
import { type Interpreter, xstateInterpreter } from '../../src/runtime/interpreter/interpreter.ts'
import { stateName, type Step, testAgent } from '../support/machineDriver.ts'

interface Running {
  readonly id: string
  readonly signal: AbortSignal
  end(output: unknown): void
  fail(error: Error): void
}

/** The agent machine with live actors; each effect is a promise that ends when a step says so. */
export class LiveAgent {
  readonly records: RecordDraft[] = []
  readonly started: Running[] = []
  readonly #actor: AnyActorRef
  #failure: Error | undefined

  constructor(policy: Partial<AgentPolicy>, interpreter: Interpreter = xstateInterpreter) {
    // Every kind of effect ends with whatever a step says, so no output type fits.
    const effect = (): never =>
      fromPromise<unknown>(
        ({ self, signal }) =>
          new Promise((resolve, reject) => {
            this.started.push({ id: self.id, signal, end: resolve, fail: reject })
          }),
      ) as never
    const provided = agentMachine.provide({
      actors: {
        prepareTurn: effect(),
        streamReply: effect(),
        askHook: effect(),
        runTool: effect(),
        subAgent: effect(),
        sleep: effect(),
        settle: effect(),
        compactTrunk: effect(),
        drainPins: effect(),
        drainReverts: effect(),
        drainGrafts: effect(),
        drainPrunes: effect(),
        drainFold: effect(),
        undoCall: effect(),
        drainStall: effect(),
        consultPolicies: effect(),
      },
      actions: { record: (_: unknown, records: readonly RecordDraft[]) => void this.records.push(...records) },
    })
    this.#actor = interpreter.createActor(interpreter.prepare(provided), { id: 'live', input: testAgent(policy) })
    this.#actor.subscribe({
      error: (error) => (this.#failure = error instanceof Error ? error : new Error(String(error))),
    })
    this.#actor.start()
  }

  get state(): string {
    return stateName(this.#actor.getSnapshot().value)
  }

  /** Makes one thing happen and lets what follows from it happen too. Throws when the machine failed. */
  async step(step: Step): Promise<void> {
    if (step.type === 'send') this.#actor.send(step.event)
    else if (step.type === 'finish') this.started[step.nth]!.end(step.output)
    else this.started[step.nth]!.fail(new Error(step.message))
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#failure !== undefined) throw this.#failure
  }

  close(): void {
    this.#actor.stop()
  }
}
