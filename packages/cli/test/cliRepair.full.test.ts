import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ModelRequest } from '../../../src/index.ts'
import { decideRepair } from '../src/embedded/decideRepair.ts'
import { assert, type CaseContext, describe } from '../../../test/support/suite.ts'
import { runCli } from './cliInProcess.ts'
import { projectFolder } from './cliChild.ts'
import { beyondRepair, faultyProjects, soundProject, twoFaults } from './cliProjects.ts'

const timeoutMs = 60_000

const contents = (dir: string, files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.keys(files).map((path) => [path, readFileSync(join(dir, path), 'utf8')]))

async function repair(context: CaseContext, files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const cwd = projectFolder(context, files)
  const end = await runCli(context, ['run', 'Fix the failing test.', '--yes', ...args], { cwd })
  return { ...end, dir: cwd, after: contents(cwd, files) }
}

describe('the embedded model', (it) => {
  for (const [title, { files, path, repaired }] of Object.entries(faultyProjects)) {
    it(`repairs ${title} and changes nothing else`, { timeoutMs }, async (context) => {
      const { code, stdout, after } = await repair(context, files)
      assert.is(code, 0, stdout)
      assert.match(after[path]!, repaired)
      assert.equal({ ...after, [path]: '' }, { ...files, [path]: '' })
    })
  }

  it('repairs two faults one after the other', { timeoutMs }, async (context) => {
    const { code, stdout, after } = await repair(context, twoFaults)
    assert.is(code, 0, stdout)
    assert.match(stdout, /Better: I keep that/)
    assert.match(after['add.js'] ?? '', /a \+ b/)
    assert.match(after['adult.js'] ?? '', />= 18/)
  })

  it(
    'repairs as well when it is braked, and reads past what the brakes have put there',
    { timeoutMs },
    async (context) => {
      const config = `
      import { defineAgent, workspaceTools } from ${JSON.stringify(import.meta.resolve('../../../src/index.ts'))}
      const braking = { revert: true, stall: true }
      const make = ({ model }) => defineAgent({ name: 'fixer', model, tools: workspaceTools(import.meta.dirname), braking, toolExecution: 'sequential' })
      export default { agents: [make] }`
      const { code, stdout, stderr, after } = await repair(context, { ...twoFaults, 'escapement.config.ts': config })
      assert.is(code, 0, stdout + stderr)
      assert.match(after['add.js'] ?? '', /a \+ b/)
      // A check that is slow on a busy machine may count as failed: there is another edit that does it.
      assert.match(after['adult.js'] ?? '', />= 18|> 17/)
    },
  )

  it('gives up honestly, with every edit taken back', { timeoutMs }, async (context) => {
    const { code, stdout, after } = await repair(context, beyondRepair)
    assert.is(code, 1, stdout)
    assert.match(stdout, /I could not do it/)
    assert.match(stdout, /tried \d+ single edit/)
    assert.equal(after, beyondRepair)
  })

  it('says so when the tests pass already, and edits nothing', { timeoutMs }, async (context) => {
    const { code, stdout, after } = await repair(context, soundProject)
    assert.is(code, 0)
    assert.match(stdout, /pass already/)
    assert.not.match(stdout, /edit_file/)
    assert.equal(after, soundProject)
  })

  it('says so when there is no test', { timeoutMs }, async (context) => {
    const { code, stdout } = await repair(context, { 'notes.md': 'nothing to test here\n' })
    assert.is(code, 1)
    assert.match(stdout, /neither a test script .* nor a test file/)
  })

  it('declines any other task and says what it can do', async () => {
    for (const task of ['Why does the test fail?', 'write a web server', 'do not fix the test']) {
      const reply = decideRepair(requestOf(task))
      assert.ok(typeof reply === 'object' && reply.stopReason === 'refusal', task)
      assert.match(typeof reply === 'object' ? (reply.text ?? '') : '', /repair failing tests/)
    }
  })

  it('decides the same for the same request', { timeoutMs }, async (context) => {
    const { stdout } = await repair(context, faultyProjects['a missing return']!.files, '--json')
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; request?: ModelRequest; message?: unknown })
    const requests = events.flatMap(({ type, request }) =>
      type === 'turn.request' && request !== undefined ? [request] : [],
    )
    const replies = events.flatMap((event) =>
      event.type === 'reply.end' ? [event.message as { content: { type: string; text?: string }[] }] : [],
    )
    assert.ok(requests.length > 4)
    requests.forEach((request, i) => {
      const again = decideRepair(request)
      const said = replies[i]!.content.find(({ type }) => type === 'text')?.text
      assert.is(typeof again === 'string' ? again : again.text, said)
    })
  })

  it('takes back what a cut-off task left behind before it begins', () => {
    const edit = { path: 'a.js', oldText: 'a < b', newText: 'a <= b' }
    const call = { type: 'toolCall', callId: 'c1', name: 'edit_file', input: edit } as const
    const request = requestOf('Fix the test.')
    const reply = decideRepair({
      ...request,
      messages: [
        ...request.messages,
        { role: 'assistant', content: [call] },
        {
          role: 'toolResult',
          callId: 'c1',
          toolName: 'edit_file',
          content: [{ type: 'text', text: 'Edited a.js' }],
          isError: false,
        },
        { role: 'assistant', content: [{ type: 'text', text: 'I run the' }] },
        ...request.messages,
      ],
    })
    const calls = typeof reply === 'object' ? reply.toolCalls : []
    assert.equal(calls, [{ name: 'edit_file', input: { path: 'a.js', oldText: 'a <= b', newText: 'a < b' } }])
  })
})

function requestOf(task: string): ModelRequest {
  const names = ['list_files', 'read_file', 'edit_file', 'run_command']
  return {
    system: '',
    settings: {},
    tools: names.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    messages: [{ role: 'user', content: [{ type: 'text', text: task }] }],
  }
}
