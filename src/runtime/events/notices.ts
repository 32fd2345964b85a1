import { errorInfo, type ErrorCode } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { priceOf } from '../../actors/turn/pricing.ts'
import type { ModelUse } from '../../protocol/bridge/turns.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { TurnFrame } from '../../actors/turn/turnFrames.ts'
import type { LiveBody, TurnPlace } from '../../actors/agentPorts.ts'

/** The agent that they are about. */
interface NoticeOwner {
  readonly agentId: string
  readonly view: { readonly definition: AgentDefinition; readonly requests: { readonly frame: TurnFrame } }
  readonly machine: { readonly at: TurnPlace }
}

const none: readonly never[] = Object.freeze([])

/** Notices that are reported only once, however often they apply: per process, or per run for warnings of the model. */
export class Notices {
  readonly #owner: NoticeOwner
  readonly #announcer: { emit(body: LiveBody): void }
  #said: readonly ErrorCode[] = none
  #warnedIn: string | undefined
  #warnings: readonly string[] = none

  constructor(owner: NoticeOwner, announcer: { emit(body: LiveBody): void }) {
    this.#owner = owner
    this.#announcer = announcer
  }

  /** True if nothing was reported that must not be reported again in a later run. */
  get isSilent(): boolean {
    return this.#said.length === 0
  }

  /** Checks a record for reasons why limits and prices do not count fully. */
  record(record: LogRecord): void {
    const { view } = this.#owner
    if (record.type === 'run.start') {
      if (record.limits.costUsd === undefined || view.definition.pricing !== null) return
      const { id } = view.requests.frame.model
      this.#tell('PRICE_UNKNOWN', `limits.costUsd is set, but ${id} has no price, so cost counts as 0.`)
    } else if (record.type === 'reply.end' || record.type === 'reply.reset') {
      this.#checkPrice(record)
      const usage = record.type === 'reply.end' ? record.message.usage : record.usage
      // Of a reply that did not come whole nobody could have reported it.
      const isPart =
        record.type === 'reply.end' ? record.message.stopReason === 'aborted' : record.error.code.startsWith('MODEL_')
      if (usage?.estimated !== true || isPart) return
      const { id } = view.requests.frame.model
      this.#tell('USAGE_UNKNOWN', `${id} does not report the tokens it used, so an estimate counts.`)
    }
  }

  /** Reports an answer of a model without a price; with several models, one of them may have none. */
  #checkPrice(record: LogRecord): void {
    const { definition, requests } = this.#owner.view
    const { frame } = requests
    if (definition.pricing === null || record.type !== 'reply.end') return
    if (definition.prices === null && frame === definition) return
    if (priceOf(frame, record.message.model) !== null) return
    this.#tell('PRICE_UNKNOWN', `${record.message.model} answered, and has no price, so its cost counts as 0.`)
  }

  /** Reports that the agent should use a model that this process does not have. */
  modelMissing({ id, name }: ModelUse): void {
    const { model } = this.#owner.view.definition
    const which = name === undefined ? id : `${JSON.stringify(name)} (${id})`
    this.#tell('MODEL_NOT_FOUND', `The agent was to use the model ${which}, which is not here; it uses ${model.id}.`)
  }

  /** Reports that the log ended in a line that was cut off. */
  logRepaired(bytes: number): void {
    const { agentId } = this.#owner
    this.#tell(
      'LOG_REPAIRED',
      `The log of agent "${agentId}" ended in ${bytes} bytes of a torn line, which were cut off.`,
    )
  }

  /** Reports a warning of the model, once per run. */
  warn(at: { readonly runId: string; readonly turnIndex: number }, message: string): void {
    if (this.#warnedIn !== at.runId) this.#warnings = none
    this.#warnedIn = at.runId
    if (this.#warnings.includes(message)) return
    this.#warnings = [...this.#warnings, message]
    this.#announcer.emit({ type: 'model.warning', ...at, model: this.#owner.view.requests.frame.model.id, message })
  }

  #tell(code: ErrorCode, what: string): void {
    if (this.#said.includes(code)) return
    this.#said = [...this.#said, code]
    const error = errorInfo(code, what)
    // The machine is in the middle of a step.
    queueMicrotask(() => this.#announcer.emit({ type: 'error', ...this.#owner.machine.at, error }))
  }
}
