import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Report } from '../../evaluation/src/report/report.ts'
import type { CaseContext } from '../../../test/support/suite.ts'
import { cleanEnv, projectFolder, spawnCli } from './cliChild.ts'
import { endedCli } from './cliInProcess.ts'

export const door = (name: string): string => new URL(`../../../src/${name}`, import.meta.url).href

/** A suite whose embedded model says what the prompt says it should, or runs it as a command. */
export const suite = {
  'package.json': '{ "type": "module" }',
  'mini/suite.js': `import { defineAgent, policyModel } from '${door('index.ts')}'
import { defineSuite } from '${door('testing.ts')}'
const textOf = (message) => message.content.find(({ type }) => type === 'text').text
const embedded = policyModel((request) => {
  const last = request.messages.at(-1)
  const [verb, rest] = textOf(request.messages.findLast(({ role }) => role === 'user')).split(': ')
  if (verb === 'run' && last.role === 'user') return { toolCalls: [{ name: 'run_command', input: { command: rest } }] }
  return { text: verb === 'say' ? rest : textOf(last), usage: { input: 10, output: 10, cacheRead: 0, cacheWrite: 0 } }
}, { id: 'embedded:obedient' })
export default defineSuite({
  agent: ({ model, tools }) => defineAgent({ name: 'obedient', model, tools, instructions: 'first' }),
  models: { embedded: () => embedded },
})
`,
  'mini/hello/task.json': '{ "prompts": ["say: hello"], "check": { "answer": "hello" } }',
  'mini/write/task.json':
    '{ "prompts": ["run: echo made > made.txt"], "check": [{ "file": "made.txt", "equals": "made\\n" }, "sh check.sh"] }',
  'mini/write/check/check.sh': 'grep -q made made.txt',
}

/** A project with a suite, and `escapement eval` in it. */
export const inFolder = (context: CaseContext, files: Readonly<Record<string, string>> = suite) => {
  const cwd = projectFolder(context, files)
  const run = (...args: readonly string[]) => endedCli(context, ['eval', ...args], { cwd, env: cleanEnv(cwd) })
  return { cwd, run }
}

/** The same in processes of their own: modules that have changed are read again. */
export const inProcesses = (context: CaseContext, files: Readonly<Record<string, string>> = suite) => {
  const cwd = projectFolder(context, files)
  const run = (...args: readonly string[]) => spawnCli(context, ['eval', ...args], { cwd })
  return { cwd, run }
}

/** The report in a folder of results. */
export const reportIn = (folder: string): Report =>
  JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as Report
