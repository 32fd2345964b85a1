import { coloursFor } from '../src/terminal/colours.ts'
import { linked, takesLinks } from '../src/terminal/links.ts'
import { themeOf, type Theme } from '../src/terminal/theme.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { endedCli } from './cliInProcess.ts'

const tty = { isTTY: true }
const pipe = {}

describe('the theme of a terminal', (it) => {
  for (const [what, stream, env, asked, theme] of [
    ['is dark by default', tty, {}, undefined, 'dark'],
    ['is light where COLORFGBG says so', tty, { COLORFGBG: '0;15' }, undefined, 'light'],
    ['is read behind a third part of COLORFGBG', tty, { COLORFGBG: '0;default;7' }, undefined, 'light'],
    ['is dark on dark grey', tty, { COLORFGBG: '15;8' }, undefined, 'dark'],
    ['is dark where COLORFGBG says nothing known', tty, { COLORFGBG: '15;default' }, undefined, 'dark'],
    ['is none in a pipe', pipe, {}, undefined, 'none'],
    ['is none in a pipe, whatever is asked for', pipe, {}, 'light', 'none'],
    ['is none with NO_COLOR', tty, { NO_COLOR: '0' }, undefined, 'none'],
    ['is as always where NO_COLOR is empty', tty, { NO_COLOR: '' }, undefined, 'dark'],
    ['is what is asked for in spite of NO_COLOR', tty, { NO_COLOR: '1' }, 'light', 'light'],
    ['is none where the terminal is dumb', tty, { TERM: 'dumb' }, 'dark', 'none'],
    ['is forced by FORCE_COLOR in a pipe', pipe, { FORCE_COLOR: '1' }, undefined, 'dark'],
    ['is forced by FORCE_COLOR before NO_COLOR', tty, { FORCE_COLOR: '1', NO_COLOR: '1' }, undefined, 'dark'],
    ['is forced by FORCE_COLOR where the terminal is dumb', tty, { FORCE_COLOR: '1', TERM: 'dumb' }, undefined, 'dark'],
    ['is not forced by an empty FORCE_COLOR', pipe, { FORCE_COLOR: '' }, undefined, 'none'],
    ['is none where that is asked for, in spite of FORCE_COLOR', tty, { FORCE_COLOR: '1' }, 'none', 'none'],
  ] as readonly (readonly [string, { isTTY?: boolean }, Record<string, string>, Theme | undefined, Theme])[])
    it(what, () => assert.is(themeOf(stream, env, asked), theme))

  it('has colours that can be read on its background', () => {
    assert.is(coloursFor(tty, {}).yellow('a'), '\u001B[33ma\u001B[39m')
    assert.is(coloursFor(tty, { COLORFGBG: '0;15', TERM: 'xterm-256color' }).yellow('a'), '\u001B[38;5;130ma\u001B[39m')
    assert.is(coloursFor(tty, { COLORFGBG: '0;15', TERM: 'xterm' }).blue('a'), '\u001B[34ma\u001B[39m')
  })

  it('must be one that there is', async (context) => {
    const { code, stderr } = await endedCli(context, ['sessions', '--theme', 'pink'])
    assert.is(code, 2)
    assert.match(stderr, '--theme must be dark, light or none; it is "pink"')
  })
})

describe('links of a terminal', (it) => {
  for (const [env, takes] of [
    [{ TERM: 'xterm-256color' }, false],
    [{ TERM: 'xterm-kitty' }, true],
    [{ TERM_PROGRAM: 'iTerm.app', TERM: 'xterm-256color' }, true],
    [{ WT_SESSION: 'a-b' }, true],
    [{ VTE_VERSION: '7006', TERM: 'xterm-256color' }, true],
    [{ VTE_VERSION: '4600' }, false],
    [{ VTE_VERSION: 'new' }, false],
    [{ VTE_VERSION: '7006', TMUX: '/some/tmux,1,0' }, false],
    [{ TERM: 'screen-256color', TERM_PROGRAM: 'vscode' }, false],
    [{ TERM: 'dumb', WT_SESSION: 'a' }, false],
  ] as const)
    it(`${takes ? 'are' : 'are not'} there with ${JSON.stringify(env)}`, () => assert.is(takesLinks(env), takes))

  it('have addresses that end where they end', () => {
    assert.is(linked('a', 'https://x.test/\u001B\\\u001B]0;t\u0007'), 'a')
    assert.is(linked('a', 'https://x.test/ä'), 'a')
  })
})
