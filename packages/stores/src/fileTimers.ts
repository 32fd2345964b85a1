import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { isAgentId } from '../../../src/protocol/ids.ts'
import type { DueAgent, TimerIndex } from '../../../src/protocol/ports/timers.ts'
import { byTime } from './memory/memoryTimers.ts'

/**
 * Keeps the agents' times as empty files, `<time>.<agentId>`, in one folder. One listing answers what is due. Concurrent processes need no lock,
 * because only the holder of an agent's log writes its entry. A new entry is made before the old one is removed. If a crash leaves both, the
 * earlier one counts until the next change. Nothing is synced, since the log has the times.
 */
export class FileTimers implements TimerIndex {
  readonly #dir: string
  readonly #check: (agentId: string) => void
  /** Last write for each agent. Writes for one agent run one after another. */
  readonly #writing = new Map<string, Promise<void>>()

  constructor(dir: string, check: (agentId: string) => void) {
    this.#dir = dir
    this.#check = check
  }

  async set(agentId: string, due: number | null): Promise<void> {
    this.#check(agentId)
    await this.#next(agentId, due)
  }

  async due(now: number, limit = Infinity): Promise<readonly DueAgent[]> {
    const earliest = new Map<string, DueAgent>()
    for (const entry of (await this.#entries()).toSorted(byTime))
      if (entry.due <= now && !earliest.has(entry.agentId)) earliest.set(entry.agentId, entry)
    return [...earliest.values()].slice(0, limit)
  }

  /** Removes the entry of an agent. */
  delete(agentId: string): Promise<void> {
    return this.#next(agentId, null)
  }

  /** Resolves once the current write for an agent has ended, since another process may write next. Never rejects. */
  async settled(agentId: string): Promise<void> {
    await this.#writing.get(agentId)?.catch(() => {})
  }

  async #next(agentId: string, due: number | null): Promise<void> {
    const before = this.#writing.get(agentId) ?? Promise.resolve()
    const writing = before.catch(() => {}).then(() => this.#write(agentId, due))
    this.#writing.set(agentId, writing)
    try {
      await writing
    } catch (thrown) {
      const what = `The time of agent "${agentId}" could not be written in ${this.#dir}: ${messageOf(thrown)}.`
      throw new RuntimeError('STORE_APPEND_FAILED', what, { cause: thrown })
    } finally {
      if (this.#writing.get(agentId) === writing) this.#writing.delete(agentId)
    }
  }

  async #write(agentId: string, due: number | null): Promise<void> {
    const old = (await this.#entries()).filter((entry) => entry.agentId === agentId)
    if (due !== null && !old.some((entry) => entry.due === due)) {
      await mkdir(this.#dir, { recursive: true })
      await writeFile(this.#fileOf({ agentId, due }), '')
    }
    for (const entry of old) if (entry.due !== due) await rm(this.#fileOf(entry), { force: true })
  }

  async #entries(): Promise<readonly DueAgent[]> {
    try {
      return (await readdir(this.#dir)).flatMap(entryIn)
    } catch (thrown) {
      if (hasCode(thrown, 'ENOENT') || hasCode(thrown, 'ENOTDIR')) return []
      const what = `${this.#dir} could not be listed: ${messageOf(thrown)}.`
      throw new RuntimeError('STORE_READ_FAILED', what, { cause: thrown })
    }
  }

  #fileOf({ agentId, due }: DueAgent): string {
    return join(this.#dir, `${due}.${agentId}`)
  }
}

/** Returns the entry that a file name stands for; empty if it stands for none. */
function entryIn(name: string): DueAgent[] {
  const [, time = '', agentId = ''] = /^(\d{1,16})\.(.+)$/.exec(name) ?? []
  return isAgentId(agentId) ? [{ agentId, due: Number(time) }] : []
}
