import { join } from 'node:path'
import { z } from 'zod'
import { describeIssues, messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Check } from '../suite/task.ts'
import { idOf, kindOf, textWithin, wrong, type Imported, type ImportedTask, type Importer } from './imported.ts'

const wants =
  'the folder of a domain: git clone https://github.com/sierra-research/tau2-bench, then tau2-bench/data/tau2/domains/retail, airline or another with tasks.json and policy.md'

const action = z.looseObject({
  name: z.string().min(1),
  arguments: z.record(z.string(), z.unknown()),
  requestor: z.string().optional(),
  compare_args: z.array(z.string()).nullish(),
})

const taskSchema = lazily(() =>
  z.looseObject({
    id: z.string().min(1),
    ticket: z.string().nullish(),
    user_scenario: z.looseObject({
      instructions: z.union([
        z.string().min(1),
        z.looseObject({
          reason_for_call: z.string(),
          known_info: z.string().nullish(),
          task_instructions: z.string(),
        }),
      ]),
    }),
    evaluation_criteria: z
      .looseObject({
        actions: z.array(action).nullish(),
        communicate_info: z.array(z.string()).nullish(),
        nl_assertions: z.array(z.string()).nullish(),
        reward_basis: z.array(z.string()).optional(),
      })
      .nullish(),
  }),
)
type Row = z.output<ReturnType<typeof taskSchema>>

/** tau2-bench: a policy, tools over a database, and a user. Its tools are in Python, so they are left to the user. */
export const tau2Bench: Importer = {
  title: 'tau2-bench',
  wants,
  async read(path) {
    if ((await kindOf(path)) !== 'folder') throw wrong(`${path} is no folder: it should be ${wants}.`)
    const policy = await textWithin(path, 'policy.md')
    if (policy === undefined) throw wrong(`${path} has no policy.md: it should be ${wants}.`)
    const rows = await readTasks(path)
    const names = new Set<string>()
    for (const { evaluation_criteria: criteria } of rows)
      for (const { name } of criteria?.actions ?? []) names.add(name)
    return suiteOf(rows, policy, [...names].toSorted())
  },
}

async function readTasks(folder: string): Promise<readonly Row[]> {
  const file = join(folder, 'tasks.json')
  const text = await textWithin(folder, 'tasks.json')
  if (text === undefined) throw wrong(`${folder} has no tasks.json: it should be ${wants}.`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    throw wrong(`${file} cannot be read: ${messageOf(thrown)}. It should be of ${wants}.`)
  }
  const checked = z.array(taskSchema()).min(1, 'has no task').safeParse(value)
  if (checked.success) return checked.data
  throw wrong(`${file}: ${describeIssues(checked.error)}.`)
}

function suiteOf(rows: readonly Row[], policy: string, tools: readonly string[]): Imported {
  const judged = rows.filter(({ evaluation_criteria: criteria }) => (criteria?.nl_assertions ?? []).length > 0).length
  return {
    tasks: rows.map(taskOf),
    module: suiteModule,
    others: new Map([
      ['policy.md', policy],
      ['tools.mjs', toolsModule(tools)],
    ]),
    needs: [
      'tools.mjs in the suite: the tools of the domain, over a database of its own for each trial. The benchmark has them in Python (src/tau2/domains/<domain>/tools.py); until they are written here, the suite refuses to run.',
      ...(judged === 0 ? [] : [`--judge <provider:id>: ${judged} tasks have assertions in words.`]),
    ],
    differs: [
      'There is no simulated user: what the user wants, knows and would answer is one prompt, as a ticket. What tests a dialogue is lost.',
      'The state of the database at the end is not compared. In its place the calls are looked for that the reference solution makes and that change something by their names; another way to the same state counts as failed.',
      'Tools of the user (telecom) and changes of the state at the beginning (initial_state) are left out.',
    ],
  }
}

/** Matches names of calls that only read, as the domains name them. */
const looks = /^(?:get|find|list|search|calculate|check|think|run|verify)_?/

function taskOf({ id, ticket, user_scenario: { instructions }, evaluation_criteria: criteria }: Row): ImportedTask {
  const actions = (criteria?.actions ?? []).filter(
    ({ name, requestor = 'assistant' }) => requestor === 'assistant' && !looks.test(name),
  )
  const checks: Check[] = [
    ...actions.map(({ name, arguments: input, compare_args: compared }, at) => ({
      scorer: 'called',
      name: `${name} ${at + 1}`,
      tool: name,
      input:
        compared == null ? input : Object.fromEntries(Object.entries(input).filter(([key]) => compared.includes(key))),
    })),
    ...(actions.length > 0 ? [] : [{ scorer: 'changes-nothing', name: 'nothing is changed' }]),
    ...(criteria?.communicate_info ?? []).map((text) => ({ scorer: 'said', name: `says ${text}`.slice(0, 60), text })),
    ...(criteria?.nl_assertions ?? []).map((judge) => ({
      judge,
      required: criteria?.reward_basis?.includes('NL_ASSERTION') === true,
    })),
  ]
  return { task: { id: idOf(`task-${id}`), prompts: [promptOf(ticket, instructions)], check: checks, tags: ['tau2'] } }
}

function promptOf(ticket: string | null | undefined, instructions: Row['user_scenario']['instructions']): string {
  if (ticket != null && ticket.trim() !== '') return ticket.trim()
  const opening =
    'A ticket of a customer, whom you cannot ask. What they would answer stands in it: act on it as far as the policy allows.'
  if (typeof instructions === 'string') return `${opening}\n\n${instructions}`
  const { reason_for_call: reason, known_info: known, task_instructions: more } = instructions
  return [opening, reason, known ?? '', more].filter((part) => part.trim() !== '').join('\n\n')
}

const suiteModule = `import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { defineAgent } from 'escapement'
import { defineSuite } from 'escapement/testing'
import { looks, toolsFor } from './tools.mjs'

const policy = readFileSync(new URL('policy.md', import.meta.url), 'utf8')

/** The calls that were carried out, without those that failed. */
function callsIn(records) {
  const all = [...records.values()].flat()
  const good = new Set(all.flatMap((record) => (record.type === 'tool.end' && !record.message.isError ? [record.callId] : [])))
  return all
    .filter(({ type }) => type === 'reply.end')
    .flatMap(({ message }) => message.content.filter((block) => block.type === 'toolCall' && good.has(block.callId)))
}

export default defineSuite({
  agent: ({ model, dir, task, seed }) =>
    defineAgent({ name: 'desk', model, instructions: policy, tools: toolsFor({ dir, task, seed }) }),
  scorers: {
    called: ({ records, options: { tool, input } }) =>
      callsIn(records).some(
        (call) => call.name === tool && Object.entries(input).every(([key, value]) => isDeepStrictEqual(call.input[key], value)),
      ),
    'changes-nothing': ({ records, result }) => result !== null && callsIn(records).every(({ name }) => looks(name)),
    said: ({ records, options: { text } }) =>
      [...records.values()].flat().some(
        (record) => record.type === 'reply.end' && record.message.content.some((block) => block.type === 'text' && block.text.includes(text)),
      ),
  },
})
`

const toolsModule = (
  names: readonly string[],
): string => `// The tools of the domain: write them with defineTool of escapement, over a database that is made anew for each trial, in its folder \`dir\`.

/** The calls of the reference solutions. */
export const called = ${JSON.stringify(names)}

/** True if a tool of this name only looks. */
export const looks = (name) => ${String(looks)}.test(name)

export function toolsFor({ dir, task, seed }) {
  throw new Error('Write the tools of the domain in tools.mjs first: tau2-bench has them in Python.')
}
`
