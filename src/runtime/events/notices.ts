import { errorInfo, type ErrorCode } from '../../protocol/errors.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { AgentHost } from '../agents/agentHost.ts'

/** What is said of an agent once, however often it is so: in this process, or for warnings of its model in a run. */
export class Notices {
  readonly #host: AgentHost
  #said: readonly ErrorCode[] = []
  #warnedIn: string | undefined
  #warnings: readonly string[] = []

  constructor(host: AgentHost) {
    this.#host = host
  }

  /** Looks at a record for what makes limits and prices count less than they seem to. */
  record(record: LogRecord): void {
    const { id } = this.#host.definition.model
    if (record.type === 'run.start') {
      if (record.limits.costUsd === undefined || this.#host.definition.pricing !== null) return
      this.#tell('PRICE_UNKNOWN', `limits.costUsd is set, but ${id} has no price, so cost counts as 0.`)
    } else if (record.type === 'reply.end' || record.type === 'reply.reset') {
      const usage = record.type === 'reply.end' ? record.message.usage : record.usage
      if (usage?.estimated !== true || (record.type === 'reply.end' && record.message.stopReason === 'aborted')) return
      this.#tell('USAGE_UNKNOWN', `${id} does not report the tokens it used, so an estimate counts.`)
    }
  }

  /** The log ended in a line that was cut off. */
  logRepaired(bytes: number): void {
    const { agentId } = this.#host
    this.#tell(
      'LOG_REPAIRED',
      `The log of agent "${agentId}" ended in ${bytes} bytes of a torn line, which were cut off.`,
    )
  }

  /** Tells of a warning of the model, once a run. */
  warn(at: { readonly runId: string; readonly turnIndex: number }, message: string): void {
    if (this.#warnedIn !== at.runId) this.#warnings = []
    this.#warnedIn = at.runId
    if (this.#warnings.includes(message)) return
    this.#warnings = [...this.#warnings, message]
    this.#host.emit({ type: 'model.warning', ...at, model: this.#host.definition.model.id, message })
  }

  #tell(code: ErrorCode, what: string): void {
    if (this.#said.includes(code)) return
    this.#said = [...this.#said, code]
    const error = errorInfo(code, what)
    // The machine is in the middle of a step.
    queueMicrotask(() => this.#host.emit({ type: 'error', ...this.#host.at, error }))
  }
}
