import { errorInfo, type ErrorCode } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'
import { priceOf } from '../../actors/turn/pricing.ts'
import type { ModelUse } from '../../protocol/bridge/turns.ts'
import type { LiveBody } from '../../actors/agentPorts.ts'
import type { EventOwner } from './announcer.ts'

type NoticeOwner = Pick<EventOwner, 'agentId' | 'definition' | 'frame' | 'at'> & { emit(body: LiveBody): void }

/** Notices that are reported only once, however often they apply: per process, or per run for warnings of the model. */
export class Notices {
  readonly #owner: NoticeOwner
  #said: readonly ErrorCode[] = []
  #warnedIn: string | undefined
  #warnings: readonly string[] = []

  constructor(owner: NoticeOwner) {
    this.#owner = owner
  }

  /** Checks a record for reasons why limits and prices do not count fully. */
  record(record: LogRecord): void {
    const { id } = this.#owner.frame.model
    if (record.type === 'run.start') {
      if (record.limits.costUsd === undefined || this.#owner.definition.pricing !== null) return
      this.#tell('PRICE_UNKNOWN', `limits.costUsd is set, but ${id} has no price, so cost counts as 0.`)
    } else if (record.type === 'reply.end' || record.type === 'reply.reset') {
      this.#checkPrice(record)
      const usage = record.type === 'reply.end' ? record.message.usage : record.usage
      // Of a reply that did not come whole nobody could have reported it.
      const isPart =
        record.type === 'reply.end' ? record.message.stopReason === 'aborted' : record.error.code.startsWith('MODEL_')
      if (usage?.estimated !== true || isPart) return
      this.#tell('USAGE_UNKNOWN', `${id} does not report the tokens it used, so an estimate counts.`)
    }
  }

  /** Reports an answer of a model without a price; with several models, one of them may have none. */
  #checkPrice(record: LogRecord): void {
    const { definition, frame } = this.#owner
    if (definition.pricing === null || record.type !== 'reply.end') return
    if (definition.prices === null && frame === definition) return
    if (priceOf(frame, record.message.model) !== null) return
    this.#tell('PRICE_UNKNOWN', `${record.message.model} answered, and has no price, so its cost counts as 0.`)
  }

  /** Reports that the agent should use a model that this process does not have. */
  modelMissing({ id, name }: ModelUse): void {
    const { model } = this.#owner.definition
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
    if (this.#warnedIn !== at.runId) this.#warnings = []
    this.#warnedIn = at.runId
    if (this.#warnings.includes(message)) return
    this.#warnings = [...this.#warnings, message]
    this.#owner.emit({ type: 'model.warning', ...at, model: this.#owner.frame.model.id, message })
  }

  #tell(code: ErrorCode, what: string): void {
    if (this.#said.includes(code)) return
    this.#said = [...this.#said, code]
    const error = errorInfo(code, what)
    // The machine is in the middle of a step.
    queueMicrotask(() => this.#owner.emit({ type: 'error', ...this.#owner.at, error }))
  }
}
