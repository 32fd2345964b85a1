import { assert, type CaseContext, describe } from '../../../test/support/suite.ts'
import { projectFolder } from './cliChild.ts'
import { atTerminal, startAtTerminal } from './cliTerminal.ts'
import { endlessProject, soundProject } from './cliProjects.ts'

const startChat = (context: CaseContext, cwd: string) => startAtTerminal(context, ['chat'], { cwd })

describe('the chat at a terminal', (it) => {
  atTerminal(it, 'asks before a command, shows one status line, and leaves at Ctrl-D', async (context) => {
    const child = startChat(context, projectFolder(context, soundProject))
    await child.until('› ')
    child.send('fix the test\r')
    await child.until('? run_command: node --test')
    await child.until('allow it?')
    child.send('y\r')
    await child.until('runs run_command node --test · ')
    await child.until('pass already')
    await child.until('✓ done')
    child.send('\u0004')
    const { code, stdout } = await child.ended
    assert.is(code, 0)
    assert.match(stdout, /recorded in/)
  })

  atTerminal(it, 'gives a line typed meanwhile to the agent at work', async (context) => {
    const child = startChat(context, projectFolder(context, endlessProject))
    await child.until('› ')
    child.send('fix the test\r')
    await child.until('allow it?')
    child.send('a\r')
    await child.until('runs run_command node test.js · ')
    child.send('look at the clock\r')
    await child.until('queued for the next step')
    child.send('\u0003\u0003')
    assert.is((await child.ended).code, 130)
  })
})
