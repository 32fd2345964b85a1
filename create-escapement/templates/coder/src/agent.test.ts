import assert from 'node:assert/strict'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRuntime } from 'escapement'
import { scriptedModel } from 'escapement/testing'
import { coder } from './agent.ts'

test('it edits files by itself, and runs no command that was not approved', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coder-'))
  await writeFile(join(folder, 'a.txt'), 'one')
  const model = scriptedModel([
    {
      toolCalls: [
        { name: 'edit_file', input: { path: 'a.txt', oldText: 'one', newText: 'two' } },
        { name: 'run_command', input: { command: 'touch ran.txt' } },
      ],
    },
    'Done.',
  ])
  const runtime = await createRuntime()
  const agent = await runtime.spawn(coder(model, folder))
  const run = agent.prompt('Make it two.')
  for await (const event of run) if (event.type === 'approval.requested') agent.decide(event.key, 'deny')
  await run.result
  await runtime.close()
  assert.equal(await readFile(join(folder, 'a.txt'), 'utf8'), 'two')
  await assert.rejects(readFile(join(folder, 'ran.txt')), { code: 'ENOENT' })
})
