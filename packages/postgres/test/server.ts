import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, chown, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { findPostgres } from './installPostgres.ts'
import { keepProcess } from '../../../test/support/startedProcesses.ts'

/**
 * Ends the server by the signal that comes in a line, and without one, when who started it is gone, removes its folder too: so that none
 * is left behind, whatever kills the tests.
 */
const guard =
  'postgres="$1"; dir="$2"; "$postgres" -D "$dir/data" </dev/null >>"$dir/log" 2>&1 & server=$!; ' +
  'read -r signal; kill "-${signal:-QUIT}" $server; wait $server; [ -n "$signal" ] || rm -rf "$dir"'

/** Only for sockets in its folder; what survives a crash of the machine is not its business. */
const settings = (dir: string): string => `
listen_addresses = ''
unix_socket_directories = '${dir}'
max_connections = 60
shared_buffers = 32MB
fsync = off
full_page_writes = off
`

/** Passwords are asked for from one role alone. */
const access = 'local all guarded scram-sha-256\nlocal all all trust\n'

/** The server refuses to be run by root. */
function owner(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** A PostgreSQL server in a temporary folder, reached by a socket there. It ends with this process at the latest, and holds it not. */
export class PostgresServer {
  readonly #dir: string
  readonly #bin: string
  readonly #owner = owner()
  #guard: ChildProcess | undefined

  private constructor(dir: string, bin: string) {
    this.#dir = dir
    this.#bin = bin
  }

  /** `more`: settings that replace those for tests, as lines of `postgresql.conf`. */
  static async start(more = ''): Promise<PostgresServer> {
    const bin = findPostgres()
    if (bin === undefined) throw new Error('there is no PostgreSQL')
    const dir = await mkdtemp(join(tmpdir(), 'escapement-pg-'))
    const server = new PostgresServer(dir, bin)
    const { uid, gid } = server.#owner
    if (uid !== undefined && gid !== undefined) await chown(dir, uid, gid)
    const data = join(dir, 'data')
    const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']
    await promisify(execFile)(join(bin, 'initdb'), ['-D', data, ...options], { ...server.#owner, cwd: dir })
    await appendFile(join(data, 'postgresql.conf'), settings(dir) + more)
    await appendFile(join(data, 'pg_hba.conf.new'), access)
    await promisify(execFile)('cp', [join(data, 'pg_hba.conf.new'), join(data, 'pg_hba.conf')])
    await server.begin()
    return server
  }

  /** Where all of it is. */
  get folder(): string {
    return this.#dir
  }

  /** The path of its socket. */
  get socket(): string {
    return join(this.#dir, '.s.PGSQL.5432')
  }

  /** The address of a database. */
  url(database: string, user = 'postgres'): string {
    return `postgres://${user}@/${database}?host=${encodeURIComponent(this.#dir)}`
  }

  /** Starts it again, after `end`. Resolves once it answers. */
  async begin(): Promise<void> {
    const child = spawn('sh', ['-c', guard, 'sh', join(this.#bin, 'postgres'), this.#dir], {
      ...this.#owner,
      cwd: this.#dir,
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#guard = child
    keepProcess(child)
    child.unref()
    ;(child.stdin as Socket).unref()
    while (!(await this.#answers())) {
      if (child.exitCode !== null) throw new Error(`PostgreSQL has ended:\n${await this.log()}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  async #answers(): Promise<boolean> {
    const client = new Client({ connectionString: this.url('postgres') })
    client.on('error', () => {})
    try {
      await client.connect()
      return true
    } catch {
      return false
    } finally {
      await client.end().catch(() => {})
    }
  }

  /** Ends it: in an orderly way, or as if it had crashed. `begin` starts it again. */
  async end(how: 'orderly' | 'crashed' = 'orderly'): Promise<void> {
    const child = this.#guard
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.ref()
    child.stdin?.end(`${how === 'orderly' ? 'INT' : 'QUIT'}\n`)
    await ended
  }

  /** Stands still with all its processes, until it is told to go on. */
  async signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const [first] = (await readFile(join(this.#dir, 'data', 'postmaster.pid'), 'utf8')).split('\n')
    const pid = Number(first)
    // First of all who starts the others.
    process.kill(pid, signal)
    const others = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
    for (const other of others.trim().split(' ').filter(Boolean)) process.kill(Number(other), signal)
  }

  async remove(): Promise<void> {
    await this.end('crashed')
    await rm(this.#dir, { recursive: true, force: true })
  }

  /** Log that it has written. */
  log(): Promise<string> {
    return readFile(join(this.#dir, 'log'), 'utf8').catch(() => '')
  }

  /** Makes a database, and gives its name. */
  async newDatabase(tablespace = 'pg_default'): Promise<string> {
    const name = `test_${randomUUID().replaceAll('-', '')}`
    await this.query('postgres', `CREATE DATABASE ${name} TABLESPACE ${tablespace}`)
    return name
  }

  /** Runs statements on a connection of their own. */
  async query(database: string, text: string): Promise<readonly { readonly [column: string]: unknown }[]> {
    const client = new Client({ connectionString: this.url(database) })
    client.on('error', () => {})
    await client.connect()
    try {
      const { rows } = await client.query<{ [column: string]: unknown }>(text)
      return rows
    } finally {
      await client.end()
    }
  }
}
