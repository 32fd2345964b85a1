import { errorInfo } from '../../../../src/protocol/errors.ts'
import { bytesOf, mostBytes } from './checkEvent.ts'
import { effectError, type Effect, type EffectActor, type EffectEnd } from './durable.ts'
import type { HostDraft, Journal } from './journal.ts'
import { asJson, notJson } from './plainJson.ts'

/** Runs the effects of one machine, and records each before it begins and after it has ended. */
export class Effects {
  readonly #journal: Journal
  readonly #accept: (end: Extract<HostDraft, { type: 'host.effect.end' }>) => void
  /** Effects by key, as far as the log has them. */
  readonly #known: Map<string, 'started' | 'ended'>
  readonly #actors = new Map<string, EffectActor>()
  readonly #working = new Map<Promise<void>, Effect>()

  /** `accept`: records the end of an effect, and passes it to the machine. */
  constructor(
    journal: Journal,
    known: Map<string, 'started' | 'ended'>,
    accept: (end: Extract<HostDraft, { type: 'host.effect.end' }>) => void,
  ) {
    this.#journal = journal
    this.#known = known
    this.#accept = accept
  }

  /** Number of running effects. */
  get working(): number {
    return this.#working.size
  }

  /** Begins an effect, or continues from its records in the log. Never throws. */
  begin(effect: Effect): void {
    const { key, actor, effects } = effect
    const known = this.#known.get(key)
    this.#actors.set(key, actor)
    // Its end is in the log, and comes to the machine from there.
    if (known === 'ended') return
    const isOpen = known === 'started' && effects === 'irreversible'
    const what = `The effect "${actor.id}" (${key}) was at work when its process ended, and may have been carried out.`
    const working = isOpen
      ? Promise.resolve().then(() => this.#end(effect, { error: errorInfo('EFFECT_INTERRUPTED', what) }))
      : this.#run(effect)
    this.#working.set(working, effect)
    void working.finally(() => this.#working.delete(working))
  }

  /** Returns the actor of an effect, and forgets it. */
  take(key: string): EffectActor | undefined {
    const actor = this.#actors.get(key)
    this.#actors.delete(key)
    return actor
  }

  /** Resolves once no irreversible effect is running. */
  async atRest(): Promise<void> {
    const irreversible = (): Promise<void>[] =>
      [...this.#working].flatMap(([working, { effects }]) => (effects === 'irreversible' ? [working] : []))
    for (let working = irreversible(); working.length > 0; working = irreversible()) await Promise.all(working)
  }

  /** Runs an effect. Never rejects. If its start cannot be recorded it does not begin, and the host ends. */
  async #run(effect: Effect): Promise<void> {
    const { key, actor, effects, signal } = effect
    this.#known.set(key, 'started')
    this.#journal.append({ type: 'host.effect.start', key, actor: actor.id, effects })
    try {
      await this.#journal.held()
    } catch {
      return
    }
    if (signal.aborted) return
    this.#end(effect, await outcomeOf(effect))
  }

  #end({ key, actor }: Effect, { output, error }: EffectEnd): void {
    // The machine has left it.
    if (actor.getSnapshot().status !== 'active') return
    this.#known.set(key, 'ended')
    this.#accept({
      type: 'host.effect.end',
      key,
      actor: actor.id,
      output,
      ...(error === undefined ? {} : { error }),
    })
  }
}

async function outcomeOf({ run, actor }: Effect): Promise<EffectEnd> {
  try {
    const output = await run()
    const wrong = notJson(output, 'output')
    if (wrong !== undefined) return failed(`The output of "${actor.id}" must be JSON, but ${wrong}.`)
    const bytes = bytesOf(output)
    if (bytes > mostBytes) return failed(`The output of "${actor.id}" has ${bytes} bytes, more than ${mostBytes}.`)
    return { output: asJson(output) }
  } catch (thrown) {
    return { error: effectError(thrown) }
  }
}

const failed = (message: string): EffectEnd => ({ error: { code: 'EFFECT_FAILED', message } })
