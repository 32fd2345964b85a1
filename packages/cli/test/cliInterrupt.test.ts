import { assert, type CaseContext, describe } from '../../../test/support/suite.ts'
import { projectFolder } from './cliChild.ts'
import { atTerminal, startAtTerminal } from './cliTerminal.ts'
import { endlessProject } from './cliProjects.ts'

const startChat = (context: CaseContext, cwd: string) => startAtTerminal(context, ['chat'], { cwd })

describe('Ctrl-C in a chat', (it) => {
  atTerminal(it, 'stops the work at Ctrl-C and goes on, and leaves at the second in a row', async (context) => {
    const child = startChat(context, projectFolder(context, endlessProject))
    await child.until('› ')
    child.send('fix the test\r')
    await child.until('allow it?')
    child.send('y\r')
    await child.until('runs run_command node test.js · ')
    child.send('\u0003')
    await child.until('aborted')
    child.send('hello\r')
    await child.until('I am the embedded model')
    await child.until('not done')
    child.send('fix the test\r')
    await child.until('allow it?')
    child.send('\u0003\u0003')
    const { code } = await child.ended
    assert.is(code, 130)
  })
})
