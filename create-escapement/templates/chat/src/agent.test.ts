import assert from 'node:assert/strict'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRuntime } from 'escapement'
import { scriptedModel } from 'escapement/testing'
import { assistant } from './agent.ts'

test('what it is told to remember is in the file of notes', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'notes-')), 'notes.txt')
  const model = scriptedModel([{ toolCalls: [{ name: 'add_note', input: { text: 'feed the cat' } }] }, 'I will.'])
  const runtime = await createRuntime()
  const agent = await runtime.spawn(assistant(model, file))
  const { text } = await agent.prompt('Remember to feed the cat.').result
  await runtime.close()
  assert.equal(text, 'I will.')
  assert.equal(await readFile(file, 'utf8'), 'feed the cat\n')
  model.assertComplete()
})
