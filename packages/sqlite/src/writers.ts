import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogHolder, LogWorker } from '../../../src/protocol/ports/store.ts'
import { holderIn, holderWords, mayBeAlive, newHolder, type Holder } from '../../stores/src/holder.ts'
import type { Connection } from './connection.ts'

/** Row of a log's writer. */
interface WriterRow {
  readonly epoch: number
  readonly writer: number
  readonly holder: string
  readonly url: string | undefined
}

/** Registry of the processes that write to a database, with the addresses of their agents. */
export class Writers {
  readonly #connection: Connection
  /** Number of this store among the writers. */
  #own: Promise<number> | undefined
  #url: string | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Returns the number of this store among the writers, and adds it at its first write. */
  self(): Promise<number> {
    this.#own ??= newHolder().then((holder) =>
      this.#connection.writing(() =>
        Number(
          this.#connection
            .statement('INSERT INTO writers (holder, url) VALUES (?, ?) RETURNING number')
            .get(JSON.stringify(holder), this.#url ?? null)!['number'],
        ),
      ),
    )
    this.#own.catch(() => (this.#own = undefined))
    return this.#own
  }

  /** Publishes the address at which agents with open logs in this store are reached. */
  async announce(url: string | undefined): Promise<void> {
    this.#url = url
    if (url === undefined && this.#own === undefined) return
    const own = await this.self()
    await this.#connection.writing(() =>
      this.#connection.statement('UPDATE writers SET url = ? WHERE number = ?').run(this.#url ?? null, own),
    )
  }

  /** Returns the row of a log's writer. */
  row(agentId: string): WriterRow | undefined {
    const sql =
      'SELECT a.epoch, a.writer, w.holder, w.url FROM agents a JOIN writers w ON w.number = a.writer WHERE a.id = ?'
    const row = this.#connection.statement(sql).get(agentId)
    if (row === undefined) return undefined
    const { epoch, writer, holder, url } = row
    return {
      epoch: Number(epoch),
      writer: Number(writer),
      holder: String(holder),
      url: url === null ? undefined : String(url),
    }
  }

  /** Returns the holder of a log; `undefined` if its process is gone. */
  async holder({ epoch, writer, holder, url }: WriterRow): Promise<LogHolder | undefined> {
    const who = holderIn(holder)
    if (who === undefined || !(await mayBeAlive(who))) return undefined
    const isHere = writer === (await this.#own)
    return { ...(url === undefined ? {} : { url }), epoch, isHere, words: holderWords(who) }
  }

  /** Returns the rows of the writers that have published an address. */
  rows(): readonly Pick<WriterRow, 'holder' | 'url'>[] {
    const rows = this.#connection.statement('SELECT holder, url FROM writers WHERE url IS NOT NULL ORDER BY url').all()
    return rows.map(({ holder, url }) => ({ holder: String(holder), url: String(url) }))
  }

  /** Returns the workers of these rows that may be alive. */
  async announced(rows: readonly Pick<WriterRow, 'holder' | 'url'>[]): Promise<LogWorker[]> {
    const workers: LogWorker[] = []
    for (const { holder, url } of rows) {
      const who = holderIn(holder)
      if (who !== undefined && url !== undefined && (await mayBeAlive(who)))
        workers.push({ url, words: holderWords(who) })
    }
    return workers
  }

  /** The number of this store, if it has written. */
  get known(): Promise<number | undefined> {
    return this.#own?.catch(() => undefined) ?? Promise.resolve(undefined)
  }

  /**
   * Returns the writer of a log if its process is gone or it is `free`; `undefined` if the log has no writer.
   *
   * @throws RuntimeError `STORE_LOCKED`
   */
  async dead(agentId: string, free: number | undefined): Promise<number | undefined> {
    const row = this.#connection.statement('SELECT writer FROM agents WHERE id = ?').get(agentId)
    const writer = row?.['writer'] ?? null
    if (writer === null) return undefined
    if (writer === free) return free
    const holder = this.#of(Number(writer))
    if (holder !== undefined && (await mayBeAlive(holder))) throw this.locked(agentId, Number(writer))
    return Number(writer)
  }

  #of(writer: number): Holder | undefined {
    const row = this.#connection.statement('SELECT holder FROM writers WHERE number = ?').get(writer)
    return row === undefined ? undefined : holderIn(String(row['holder']))
  }

  locked(agentId: string, writer: number): RuntimeError {
    const holder = this.#of(writer)
    const who = holder === undefined ? 'an unknown holder' : holderWords(holder)
    return new RuntimeError(
      'STORE_LOCKED',
      `The log of agent "${agentId}" in ${this.#connection.file} is held by ${who}.`,
    )
  }

  /** Removes this store from the writers. */
  async leave(): Promise<void> {
    const own = await this.known
    if (own === undefined) return
    await this.#connection.writing(() => this.#connection.statement('DELETE FROM writers WHERE number = ?').run(own))
  }
}
