import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { PostgresServer } from '../../../../postgres/test/server.ts'

/** The disk that a database's records are on. */
export interface Disk {
  /** From now on nothing more is taken. */
  fill(): Promise<void>
  /** Resolves once somebody was refused. */
  refused(): Promise<void>
  /** There is room again. */
  free(): Promise<void>
}

const noSpace = /No space left on device|could not extend file/

/** Resolves once the server has noted again that there is no space. */
async function untilRefused(server: PostgresServer, from: number): Promise<void> {
  while (!noSpace.test((await server.log()).slice(from))) await pause(20)
}

/** As if the disk were full: every record is refused as a server does then (53100). Works wherever there is a server. */
export function seemingDisk(server: PostgresServer, database: string): Disk {
  let from = 0
  return {
    async fill() {
      from = (await server.log()).length
      await server.query(
        database,
        `CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER fails BEFORE INSERT ON escapement.records FOR EACH ROW EXECUTE FUNCTION public.fail()`,
      )
    },
    refused: () => untilRefused(server, from),
    free: async () => void (await server.query(database, 'DROP FUNCTION public.fail() CASCADE')),
  }
}

/** Unmounts when its input ends, and so with who started it, whatever kills that. */
const guard = 'mount -t tmpfs -o size="$2" none "$1" || exit 1; echo mounted; read -r _; umount -l "$1"'

/** A disk of 64 MiB, in memory: needs the rights to mount one. */
export class SmallDisk implements Disk {
  readonly #server: PostgresServer
  readonly #dir: string
  readonly #guard: ChildProcess
  readonly #name: string
  #from = 0

  private constructor(server: PostgresServer, dir: string, child: ChildProcess) {
    this.#server = server
    this.#dir = dir
    this.#guard = child
    this.#name = `small_${child.pid}`
  }

  /** `undefined`: this user may not mount any. */
  static async mount(server: PostgresServer): Promise<SmallDisk | undefined> {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
    const dir = await mkdtemp(join(tmpdir(), 'escapement-disk-'))
    const child = spawn('sh', ['-c', guard, 'sh', dir, '64m'], { stdio: ['pipe', 'pipe', 'ignore'], detached: true })
    const isMounted = await Promise.race([
      once(child.stdout, 'data').then(() => true),
      once(child, 'exit').then(() => false),
    ])
    const disk = new SmallDisk(server, dir, child)
    if (isMounted) await disk.#give()
    else await rm(dir, { recursive: true, force: true })
    return isMounted ? disk : undefined
  }

  /** The server may write there. */
  async #give(): Promise<void> {
    const { uid, gid } = await stat(this.#server.folder)
    await chown(this.#dir, uid, gid)
    await this.#server.query('postgres', `CREATE TABLESPACE ${this.#name} LOCATION '${this.#dir}'`)
  }

  /** Makes a database on it, and gives its name. */
  newDatabase(): Promise<string> {
    return this.#server.newDatabase(this.#name)
  }

  async fill(): Promise<void> {
    this.#from = (await this.#server.log()).length
    const { bavail, bsize } = await statfs(this.#dir)
    await writeFile(join(this.#dir, 'ballast'), Buffer.alloc(bavail * bsize)).catch((thrown: unknown) => {
      // Somebody else has taken the rest meanwhile.
      if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOSPC')) throw thrown
    })
  }

  refused(): Promise<void> {
    return untilRefused(this.#server, this.#from)
  }

  async free(): Promise<void> {
    await rm(join(this.#dir, 'ballast'))
  }

  async remove(database: string): Promise<void> {
    await this.#server.query('postgres', `DROP DATABASE ${database} WITH (FORCE)`)
    await this.#server.query('postgres', `DROP TABLESPACE ${this.#name}`)
    const ended = once(this.#guard, 'exit')
    this.#guard.stdin!.end()
    await ended
    await promisify(execFile)('rmdir', [this.#dir])
  }
}
