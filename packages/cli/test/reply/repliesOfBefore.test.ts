import { assert, describe, type CaseContext } from '../../../../test/support/suite.ts'
import { endedCli } from '../cliInProcess.ts'
import { projectFolder } from '../cliChild.ts'
import { recordSession } from '../cliSessions.ts'

const said = 'It is **done**:\n\n- `one`\n- two\u001B]52;c;aGk=\u0007\n\n```js\nlet a = 1\n```'

/** Prints a session with one reply by a command. */
async function shown(context: CaseContext, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const dir = projectFolder(context)
  await recordSession(dir, { id: 's1', prompts: ['go'], replies: [said] })
  const all = [...args, '--dir', dir, '--no-config']
  const { code, stdout, raw } = await endedCli(context, all, { isTerminal: true, env })
  assert.is(code, 0)
  return { stdout, raw }
}

describe('a reply of a session of before', (it) => {
  it('is Markdown in a replay at a terminal, and moves no cursor', async (context) => {
    const { stdout, raw } = await shown(context, ['replay', 's1', '--speed', '0'])
    assert.match(stdout, /\nIt is done:\n\n- one\n- two\]52;c;aGk=\n\n```js\nlet a = 1\n```\n✓ done/)
    // oxlint-disable-next-line no-control-regex -- these move the cursor or do worse
    assert.not.match(raw, /\u001B(?!\[[\d;]*m)|\u0007/)
    assert.ok(raw.includes('It is \u001B[1mdone\u001B[22m:\n'))
  })

  it('is Markdown where its turn is shown', async (context) => {
    const { stdout } = await shown(context, ['show', 's1', '--turn', '1'])
    assert.match(stdout, /\n {2}It is done:\n\n {2}- one\n {2}- two\]52;c;aGk=\n\n {2}```js\n {2}let a = 1\n {2}```\n/)
  })

  for (const command of [
    ['replay', 's1', '--speed', '0'],
    ['show', 's1', '--turn', '1'],
  ])
    it(`is as it was written without colours: ${command[0]}`, async (context) => {
      const { stdout } = await shown(context, command, { NO_COLOR: '1' })
      assert.match(stdout, 'It is **done**:')
      assert.match(stdout, '- `one`')
    })
})
