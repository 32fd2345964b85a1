import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as tick } from 'node:timers/promises'
import { z } from 'zod'
import type { AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { defineTool, type Tool, type ToolContext } from '../../src/actors/tools/defineTool.ts'
import type { ToolSource } from '../../src/actors/tools/toolSource.ts'

export type ItemTool = 'look' | 'write' | 'draft' | 'deliver' | 'deploy' | 'delegate' | 'confirm' | 'locate' | 'report'

/** One turn of a job: calls made at once, or a revert to the end of an earlier turn. */
export type JobTurn =
  | readonly ItemTool[]
  | { readonly revertTo: number; readonly category: 'tangent' | 'completion'; readonly undo?: true }

/** Job of an agent in the crash matrix; its calls are items, called `<prefix>-<turn>.<place in the turn>`. */
export interface Job {
  readonly prefix: string
  readonly turns: readonly JobTurn[]
  /** Turns from this one on are done only once the follow-up was said. */
  readonly followUpFrom: number
}

/** The main job: everything a run can do, in 30 turns, and six more that a follow-up asks for, the last of which ends the run by its call. */
export const mainJob: Job = {
  prefix: 'm',
  followUpFrom: 31,
  turns: [
    ['write'],
    ['look'],
    ['deliver'],
    ['look', 'write', 'look'],
    ['write'], // after this one the steering is said
    ['deploy'],
    ['deliver'],
    ['write'],
    ['look', 'look'],
    ['write'],
    ['look'],
    ['look', 'draft'],
    ['write'],
    { revertTo: 10, category: 'tangent', undo: true },
    ['delegate'],
    ['deliver'],
    ['deploy', 'write'],
    ['deploy'], // this one is denied
    ['write'],
    ['deliver'], // after this one the follow-up is said
    ['look'],
    ['write', 'look'],
    ['deliver', 'write', 'deliver'],
    ['look'],
    { revertTo: 21, category: 'completion' },
    ['delegate', 'write'],
    ['look'],
    ['deliver'],
    ['write'],
    ['deploy', 'deploy'],
    ['write'],
    ['deliver'],
    ['look'],
    ['confirm', 'look'],
    ['locate'],
    ['report'],
  ],
}

/** Job of a helper for one `delegate` of the main job. */
export const helperJob = (prefix: string): Job => ({
  prefix,
  followUpFrom: Infinity,
  turns: [['look'], ['write'], ['deliver'], ['write', 'deliver'], ['look', 'look']],
})

/** Messages of the person, each with the item after whose end it is said. */
export const sayings = {
  prompt: { text: 'say(do the job)', after: undefined },
  steer: { text: 'say(take care)', after: 'm-5.1' },
  followUp: { text: 'say(and three more)', after: 'm-20.1' },
} as const

/** Commands of the person about the conversation, by their ids: about the step of an item, after the end of another. */
export const wishes = {
  'person-pin': { of: 'm-2.1', after: 'm-2.1' },
  'person-prune': { of: 'm-8.1', after: 'm-9.2' },
  'person-brake': { of: undefined, after: 'm-12.1' },
  'person-graft': { of: 'm-11.1', after: 'm-16.1' },
  'person-compact': { of: undefined, after: 'm-24.1' },
} as const

/** The item whose approval is denied. */
export const deniedItem = 'm-18.1'

/** Files of one run of the job, below its folder. */
export const jobFiles = (folder: string) => ({
  store: join(folder, 'store'),
  work: join(folder, 'work'),
  /** A file for every draft that stands. */
  drafts: join(folder, 'drafts'),
  /** A line for every time an irreversible tool ran: `{ item, key }`. */
  ledger: join(folder, 'ledger.jsonl'),
  /** A line for every time an idempotent tool ran. */
  attempts: join(folder, 'attempts.jsonl'),
  /** Faults of requests, a line each. */
  faults: join(folder, 'faults.txt'),
})
export type JobFiles = ReturnType<typeof jobFiles>

export interface Attempt {
  readonly item: string
  readonly key: string
}

/** The lines of a file of attempts; none when it is missing. */
export const readAttempts = (file: string): Attempt[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line): Attempt => JSON.parse(line))
    : []

const padding = ' Nothing else of note was seen, but it takes its room in the conversation.'.repeat(6)

/** Result of an item's call, however often and in whatever way it was asked for. */
export const resultOf = (item: string): string => `item ${item} done:${padding}`

/** With what a hook has marked. */
const input = z.looseObject({ item: z.string() })

/** Every call runs with arguments that a hook has marked, and every result passes another: whatever ran without is a fault. */
export const jobHooks = (files: JobFiles): Pick<AgentOptions, 'beforeTool' | 'afterTool'> => ({
  beforeTool: async ({ input: given }) => {
    await tick()
    return { input: { ...(given as object), checked: true } }
  },
  afterTool: async ({ name, input: given }) => {
    await tick()
    if ((given as { checked?: unknown }).checked !== true) appendFileSync(files.faults, `${name} ran unchecked\n`)
  },
})

/** Calls that a server has for the agents of the job: they are run by their own effects, as those of any tool. */
const served: ReadonlySet<string> = new Set(['look', 'write', 'draft', 'deliver'])

/** The tools of an agent of the job, with a source that gets one more tool once something was delivered. */
export function jobEntries(files: JobFiles, delegate?: Parameters<typeof jobTools>[1]): (Tool | ToolSource)[] {
  const tools = jobTools(files, delegate)
  const first = tools.filter(({ name }) => served.has(name))
  const spare = defineTool({
    name: 'spare',
    description: 'Does nothing.',
    input,
    effects: 'none',
    run: () => 'nothing',
  })
  const more = [spare, ...first]
  const source: ToolSource = {
    source: 'depot',
    open: () => ({
      get tools() {
        return existsSync(files.ledger) ? more : first
      },
      ready: () => tick(),
      status: () => ({ state: 'up', since: 0 }),
      close: () => tick(),
    }),
  }
  return [source, ...tools.filter(({ name }) => !served.has(name))]
}

/** The tools of an agent of the job; `delegate` is what the tool of that name does. */
function jobTools(files: JobFiles, delegate?: (item: string, key: string) => Promise<void>): Tool[] {
  const note = (file: string, item: string, key: string): void =>
    appendFileSync(file, `${JSON.stringify({ item, key } satisfies Attempt)}\n`)
  const irreversible = async ({ item }: { item: string }, { key }: ToolContext): Promise<string> => {
    await tick()
    note(files.ledger, item, key)
    await tick()
    return resultOf(item)
  }
  const tools = [
    defineTool({
      name: 'look',
      description: 'Looks at an item.',
      input,
      effects: 'none',
      run: ({ item }) => resultOf(item),
    }),
    defineTool({
      name: 'draft',
      description: 'Makes a draft of an item, which can be taken back.',
      input,
      effects: 'reversible',
      receipt: z.object({ item: z.string() }),
      run: async ({ item }, { key, keep }) => {
        keep({ item }, `${item}.draft`)
        await tick()
        note(files.ledger, item, key)
        mkdirSync(files.drafts, { recursive: true })
        writeFileSync(join(files.drafts, item), item)
        await tick()
        return resultOf(item)
      },
      undo: async ({ receipt }) => {
        await tick()
        rmSync(join(files.drafts, receipt.item), { force: true })
        await tick()
      },
    }),
    defineTool({
      name: 'write',
      description: 'Writes the file of an item.',
      input,
      effects: 'idempotent',
      run: async ({ item }, { key, changed }) => {
        note(files.attempts, item, key)
        await tick()
        writeFileSync(join(files.work, `${item}.txt`), `text of ${item}\n`)
        changed(`${item}.txt`)
        return resultOf(item)
      },
    }),
    defineTool({ name: 'deliver', description: 'Delivers an item, for good.', input, run: irreversible }),
    defineTool({
      name: 'deploy',
      description: 'Deploys an item, for good, once a person approves.',
      input,
      needsApproval: true,
      run: irreversible,
    }),
    defineTool({
      name: 'confirm',
      description: 'Does an item, for good, once a person has said twice that it may.',
      input,
      run: async ({ item }, context) => {
        const isMeant = await context.ask(z.boolean(), `Do ${item}?`)
        const isSure = await context.ask(z.enum(['yes', 'no']), `Really do ${item}?`)
        return isMeant && isSure === 'yes' ? irreversible({ item }, context) : `item ${item} denied`
      },
    }),
    defineTool({ name: 'locate', description: 'Finds an item, which a client does.', input }),
    defineTool({
      name: 'report',
      description: 'Hands the job in.',
      input,
      output: z.object({ item: z.string(), files: z.int() }),
      effects: 'idempotent',
      endsRun: true,
      run: async ({ item }, { key, give }) => {
        note(files.attempts, item, key)
        give([item], 'items')
        await tick()
        return { item, files: readdirSync(files.work).length }
      },
      toModel: (value) => resultOf(value.item),
    }),
    defineTool({
      name: 'verify',
      description: 'Tells whether an item was delivered.',
      input,
      effects: 'none',
      run: ({ item }) =>
        readAttempts(files.ledger).some((entry) => entry.item === item) ? resultOf(item) : `item ${item} absent`,
    }),
  ]
  if (delegate === undefined) return tools
  const delegating = defineTool({
    name: 'delegate',
    description: 'Lets a helper do an item.',
    input,
    effects: 'idempotent',
    run: async ({ item }, { key }) => {
      note(files.attempts, item, key)
      await delegate(item, key)
      return resultOf(item)
    },
  })
  return [...tools, delegating]
}
