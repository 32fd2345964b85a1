import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { policyModel } from '../../models/src/policyModel.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { chatInTerminal } from '../src/chat/localChat.ts'
import { defineCoder, openSession } from '../src/sessions/openSession.ts'
import { configFolder } from './configFolder.ts'
import { startCli } from './cliInProcess.ts'

/** Writes over a file when it is told to. */
const writing = policyModel(({ messages }) => {
  const last = messages.at(-1)!
  if (last.role === 'toolResult') return 'It is written.'
  return textOf(last.content).includes('write')
    ? { toolCalls: [{ name: 'write_file', input: { path: 'note.txt', content: 'new' } }] }
    : 'Nothing to do.'
})

describe("the command line's own agent", (it) => {
  it('has its brakes on, but for an embedded model, and keeps what files were before', (context) => {
    const dir = configFolder(context)
    const about = { dir, needsApproval: () => false } as const
    const { braking, tools } = defineCoder({ ...about, choice: { model: writing, isEmbedded: false } })
    assert.equal(
      [braking?.fold != null, braking?.stall != null, braking?.revert?.undo, tools.has('delete_file')],
      [true, true, true, true],
    )
    const asked: string[] = []
    const asking = defineCoder({
      ...about,
      needsApproval: (command) => asked.push(command) > 0,
      choice: { model: writing, isEmbedded: false },
    })
    const needs = asking.tools.get('delete_file')?.needsApproval
    assert.is(typeof needs === 'function' && needs({ path: 'note.txt' }, {} as never), true)
    assert.equal(asked, ['rm note.txt'])
    const embedded = defineCoder({ ...about, choice: { model: writing, isEmbedded: true } })
    assert.equal([embedded.braking, embedded.tools.has('delete_file')], [null, true])
  })

  for (const isEmbedded of [false, true])
    it(`takes a file back in a chat with ${isEmbedded ? 'an embedded model' : 'any model'}`, async (context) => {
      const dir = configFolder(context, { 'note.txt': 'old' })
      const session = await openSession({ dir, needsApproval: () => false, choice: { model: writing, isEmbedded } })
      context.cleanup(() => session.close())
      const cli = startCli(context, [], {
        cwd: dir,
        isTerminal: true,
        run: (_, host) =>
          chatInTerminal(session, {
            host,
            json: false,
            isPriced: false,
            modelId: 'policy',
            begin: () => {},
            onSessions: async () => {},
          }),
      })
      await cli.until('› ')
      cli.send('write it\r')
      await cli.until('✓ done')
      const note = (): string => readFileSync(join(dir, 'note.txt'), 'utf8')
      assert.is(note(), 'new')
      cli.send('/undo\r')
      await cli.until('undone: ')
      assert.is(note(), 'old')
    })
})
