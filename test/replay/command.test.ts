import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replayCommand } from '../../tools/bench/replay/command.ts'
import { ReplayError } from '../../tools/bench/replay/recordedSession.ts'
import { createRuntime, defineAgent, fileStore } from '../../src/index.ts'
import { scriptedModel } from '../../src/testing.ts'
import { assert, describe } from '../support/suite.ts'

async function refusal(...args: readonly string[]): Promise<string> {
  try {
    await replayCommand(args)
  } catch (thrown) {
    if (thrown instanceof ReplayError) return thrown.message
    throw thrown
  }
  throw new Error('it was done')
}

const chat = JSON.stringify([
  { role: 'user', content: 'hello' },
  { role: 'assistant', content: 'hi' },
])

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'escapement-replay-'))
  try {
    await work(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe('the replay command', (it) => {
  it('prints a table for each session, and figures as JSON', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'chat.json')
      await writeFile(file, chat)
      const text = await replayCommand([file, file, '--policies', 'none'])
      assert.is(text.match(/^## chat\.json \(chat messages, 1 replies\)$/gm)?.length, 2)
      assert.match(text, /\| none +\| +1 \|/)
      const picture = join(folder, 'tokens.svg')
      const figures = JSON.parse(await replayCommand([file, '--policies', 'none', '--json', '--svg', picture])) as {
        readonly rows: readonly { readonly policy: string; readonly costX: number }[]
      }[]
      assert.equal(
        figures[0]!.rows.map(({ policy, costX }) => [policy, costX]),
        [['none', 1]],
      )
      assert.match(await readFile(picture, 'utf8'), /^<svg/)
    })
  })

  it('reads a folder of logs, and asks which of several', async () => {
    await inFolder(async (folder) => {
      assert.match(await refusal(folder), /has no session/)
      const runtime = await createRuntime({ store: fileStore(folder) })
      for (const id of ['one', 'two']) {
        const agent = await runtime.spawn(defineAgent({ name: 'a', model: scriptedModel([`I am ${id}`]) }), { id })
        await agent.prompt('who?').result
      }
      await runtime.close()
      assert.match(await refusal(folder), /has the sessions one, two: name one as .*#<id>/)
      assert.match(await refusal(`${folder}#three`), /has the sessions one, two/)
      assert.match(await replayCommand([`${folder}#two`, '--policies', 'none']), /## two \(escapement log, 1 replies\)/)
    })
  })

  it('replays a generated session without any file', { timeoutMs: 20_000 }, async () => {
    const text = await replayCommand(['--generate', '20', '--seed', '5', '--policies', 'none,compaction'])
    assert.match(text, /## claude-code-20-5 /)
  })

  it('tells how it is used, and what was wrong', async () => {
    assert.match(await replayCommand([]), /npm run replay -- \[session…\]/)
    assert.match(await refusal('--nothing'), /--nothing[\s\S]*npm run replay/)
    assert.match(await refusal('--generate', 'many'), /--generate takes a positive whole number, not many/)
    assert.match(await refusal('--generate', '5', '--policies', 'none,all'), /There is no policy all: take none, /)
    assert.match(await refusal('--generate', '5', '--prices', 'gold'), /There are no prices of gold: take anthropic, /)
    assert.match(
      await refusal('--generate', '5', '--cache', 'big'),
      /There are no cache of big: take ideal, 5m, 1h, none/,
    )
    assert.match(await refusal('--generate', '5', '--kind', 'dream'), /There are no kind of dream: take claude-code, /)
    assert.match(await refusal('--by-kind', '--seeds', 'all'), /There are no seeds of all: take tune, held-out/)
    assert.match(await refusal('--generate', '5', '--unit', '0'), /--unit takes a number above 0, not 0/)
    assert.match(await refusal('--generate', '5', '--fold', 'phi=.1,psi=2'), /--fold takes work, phi, .* not psi=2/)
    assert.is(await refusal('/nowhere/at-all'), 'There is no file or folder /nowhere/at-all.')
  })
})
