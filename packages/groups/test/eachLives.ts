import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { fileStore } from '../../stores/src/fileStore.ts'
import type { Kill } from '../../../test/crash/killingStore.ts'

const agentIds = ['booker-a', 'booker-b', 'booker-c']
const script = fileURLToPath(new URL('eachJob.ts', import.meta.url))

/** One life of the batch in a folder. `undefined`: it was killed. */
async function live(folder: string, kill?: Kill): Promise<string | undefined> {
  const args = kill === undefined ? [] : [kill.mode, `${kill.at}`]
  const child = spawn(process.execPath, [script, folder, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return said === '' ? undefined : said.trim()
}

/** How many records a batch writes that nothing disturbs. */
export async function recordsOfBatch(): Promise<number> {
  return inFolder(async (folder) => {
    await live(folder)
    const store = fileStore(join(folder, 'logs'))
    let count = 0
    for (const id of agentIds) for await (const _ of store.read(id, 1)) count += 1
    await store.close()
    return count
  })
}

/** A batch that is killed once, started again, and then once more. Lists what is wrong. */
export function faultsOf(kill: Kill): Promise<string[]> {
  return inFolder(async (folder) => {
    const faults: string[] = []
    const must = (isRight: boolean, what: string): void =>
      void (isRight || faults.push(`${kill.mode} ${kill.at}: ${what}`))
    const dead = await live(folder, kill)
    must(dead === undefined, 'it was not killed')
    const second = await live(folder)
    must(second === '["a","b","c"]', `answers ${second}`)
    const third = await live(folder)
    must(third === '["a","b","c"]', `then answers ${third}`)
    const booked = existsSync(join(folder, 'booked'))
      ? readFileSync(join(folder, 'booked'), 'utf8').trim().split('\n')
      : []
    must(new Set(booked).size === booked.length, `booked ${booked.join()}`)
    // Calls that were cut off before they were carried out are not made again: it is not known whether they were.
    must(booked.length >= agentIds.length - 2, `booked only ${booked.join()}`)
    const store = fileStore(join(folder, 'logs'))
    for (const id of agentIds) {
      const replies: string[] = []
      let asked = 0
      for await (const record of store.read(id, 1)) {
        if (record.type === 'message.added' && record.message.role === 'user') asked += 1
        if (record.type === 'reply.end' && record.message.stopReason === 'stop') replies.push(record.runId)
      }
      must(asked === 1, `${id} was asked ${asked} times`)
      must(replies.length === 1, `${id} answered ${replies.length} times`)
    }
    await store.close()
    return faults
  })
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-each-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
