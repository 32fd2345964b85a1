import { warnProcess } from '../../protocol/callbackBugs.ts'
import { OpenSource } from '../../actors/tools/openSource.ts'
import type { SourceHost, ToolSource } from '../../actors/tools/toolSource.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import type { Logger } from '../../protocol/ports/logger.ts'
import type { SourceInfo } from '../../protocol/toolsChange.ts'
import { endInTime } from './endInTime.ts'
import type { Redactor } from '../../protocol/ports/redactor.ts'

interface Held {
  readonly open: OpenSource
  readonly users: Set<object>
  cancelTimer?: () => void
}

interface SourcesOptions {
  readonly clock: Clock
  readonly logger?: Logger | undefined
  readonly redactor?: Redactor | undefined
  /** Makes a redactor without secrets, once a source has secrets. */
  readonly newRedactor: () => Redactor
  /** Milliseconds for which an open source may be without an agent that uses it; `undefined`: as long as there are few such sources. */
  readonly idleUnloadMs?: number | undefined
}

/** Number of unused sources that stay open if no time is set, because agents often come and go with the same ones. */
const mostIdle = 8

/** Maximum number of different warnings, because a source's text about itself could differ each time. */
const mostWarnings = 100

/** Tool sources used by the agents of a runtime, with one connection for each. */
export class Sources {
  readonly #options: SourcesOptions
  readonly #held = new Map<ToolSource, Held>()
  readonly #known = new WeakSet<ToolSource>()
  readonly #warned = new Set<string>()
  /** Blanks the secrets that the application named, and those of every source that an agent has had; set once there are any. */
  redactor: Redactor | undefined
  #isClosed = false

  constructor(options: SourcesOptions) {
    this.#options = options
    this.redactor = options.redactor
  }

  /** Blanks the secrets of these sources from now on. */
  know(sources: readonly ToolSource[]): void {
    for (const source of sources) {
      if (this.#known.has(source)) continue
      this.#known.add(source)
      if (source.secrets !== undefined && source.secrets.length > 0) this.#blanking().add(source.source, source.secrets)
    }
  }

  #blanking(): Redactor {
    this.redactor ??= this.#options.newRedactor()
    return this.redactor
  }

  /** Returns the connection of a source, for a user to keep until it leaves. The connection opens when its tools are first requested. */
  use(source: ToolSource, user: object): OpenSource {
    this.know([source])
    const held = this.#held.get(source) ?? { open: new OpenSource(source, this.#hostFor(source)), users: new Set() }
    if (this.#isClosed) void held.open.close()
    else this.#held.set(source, held)
    held.users.add(user)
    held.cancelTimer?.()
    return held.open
  }

  #hostFor({ source }: ToolSource): SourceHost {
    const { clock, logger } = this.#options
    const redactor = (): Redactor | undefined => this.redactor
    return {
      clock,
      logger,
      get redactor() {
        return redactor()
      },
      hide: (secrets) => {
        if (secrets.length > 0) this.#blanking().renew(source, secrets)
      },
    }
  }

  /** Warns about trouble that no listener hears of. A logger is told of it as of any event. */
  unheard({ source, trouble }: SourceInfo): void {
    if (trouble === undefined || this.#options.logger !== undefined) return
    this.warn(`The source of tools "${source}" has trouble: ${trouble}`)
  }

  /** Passes a warning to the logger or, without one, to the process. Each message only once. */
  warn(message: string): void {
    if (this.#warned.has(message) || this.#warned.size === mostWarnings) return
    this.#warned.add(message)
    const { logger } = this.#options
    if (logger === undefined) warnProcess(message)
    else logger.warn({}, message)
  }

  /** Removes a user from its sources. A source without users is closed after a while. */
  leave(user: object): void {
    const { idleUnloadMs: idleMs, clock } = this.#options
    for (const [source, held] of this.#held) {
      if (!held.users.delete(user) || held.users.size > 0) continue
      // The one that was left last comes last.
      this.#held.delete(source)
      this.#held.set(source, held)
      if (idleMs !== undefined) held.cancelTimer = clock.after(idleMs, () => this.#drop(source, held))
    }
    if (idleMs !== undefined) return
    const idle = [...this.#held].filter(([, { users }]) => users.size === 0)
    for (const [source, held] of idle.slice(0, Math.max(0, idle.length - mostIdle))) this.#drop(source, held)
  }

  #drop(source: ToolSource, held: Held): void {
    this.#held.delete(source)
    void this.#end(held.open)
  }

  /** Closes all sources. Resolves once they are closed, or after 10 seconds. None can be opened any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    const all = [...this.#held.values()]
    this.#held.clear()
    await Promise.all(
      all.map(({ open, cancelTimer }) => {
        cancelTimer?.()
        return this.#end(open)
      }),
    )
  }

  #end(open: OpenSource): Promise<void> {
    const { clock, logger } = this.#options
    const { source } = open.source
    const clean = (text: string): string => this.redactor?.text(text) ?? text
    return endInTime(() => open.close(), { clock, logger, what: 'a source of tools', fields: { source }, clean })
  }
}
