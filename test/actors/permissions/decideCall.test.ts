import * as fc from 'fast-check'
import { strictest, type JudgedCall, type Ruling } from '../../../src/actors/parts/permissions/decideCall.ts'
import { readRule } from '../../../src/actors/parts/permissions/rules.ts'
import { suggestRules } from '../../../src/actors/parts/permissions/suggestRules.ts'
import { permissionModes } from '../../../src/protocol/parts/permissions/permissionModes.ts'
import { assert, describe } from '../../support/suite.ts'
import { address, command, file, judge, type Lists } from './judging.ts'

const bare = (name: string, effects: JudgedCall['effects'] = 'irreversible', input: unknown = {}): JudgedCall => ({
  name,
  input,
  effects,
})

const types = (lists: Lists, call: JudgedCall): string => judge(lists, call).type

describe('permissions of a call', (it) => {
  it('deny before all, ask unless an allow says more, and name the rule that says most', () => {
    const lists = {
      deny: ['run_command(git push *)'],
      ask: ['run_command', 'run_command(npm publish *)'],
      allow: ['run_command(npm *)', 'run_command(npm run *)', 'run_command(git *)'],
    }
    assert.equal(judge(lists, command('git push origin')), { type: 'deny', rule: 'run_command(git push *)' })
    assert.equal(judge(lists, command('make')), { type: 'ask', rule: 'run_command' })
    assert.equal(judge(lists, command('npm run x')), { type: 'allow', rule: 'run_command(npm run *)' })
    assert.equal(judge(lists, command('npm publish')), { type: 'ask', rule: 'run_command(npm publish *)' })
    assert.equal(judge(lists, command('git status && npm test')).type, 'allow')
    assert.equal(judge(lists, file('a')), { type: 'allow', rule: 'mode ask' })
  })

  it('let a grant win against an ask that says no more, and never against a deny', () => {
    const ask = ['run_command', 'run_command(npm publish *)']
    const granted = ['run_command(npm publish)']
    assert.equal(judge({ ask, granted }, command('npm publish')), {
      type: 'allow',
      rule: 'run_command(npm publish)',
      instead: true,
    })
    assert.is(types({ ask, granted: ['run_command'] }, command('npm publish')), 'ask')
    assert.is(types({ ask, granted: ['run_command'] }, command('make')), 'allow')
    assert.is(types({ deny: ['run_command(npm *)'], granted }, command('npm publish')), 'deny')
  })

  it('let edits that can be undone run in mode edits, and still ask about commands that can', () => {
    const decided = (call: JudgedCall) => judge({}, { ...call, effects: 'reversible' }, 'edits')
    assert.equal(decided(file('a')), { type: 'allow', rule: 'mode edits', instead: true })
    assert.equal(decided(bare('book')), { type: 'allow', rule: 'mode edits', instead: true })
    assert.equal(decided(command('make')), { type: 'allow', rule: 'mode edits' })
  })

  it('leave the tool its own question unless the rule says instead', () => {
    const allow = [{ tool: 'pay', when: ({ sum }: { sum: number }) => sum < 10, instead: true }, 'pay']
    assert.equal(judge({ allow }, bare('pay', 'irreversible', { sum: 3 })), {
      type: 'allow',
      rule: 'pay (when)',
      instead: true,
    })
    assert.equal(judge({ allow }, bare('pay', 'irreversible', { sum: 30 })), { type: 'allow', rule: 'pay' })
  })

  it('take a function that throws for no in an allow, and for yes elsewhere', () => {
    const when = (): boolean => {
      throw new Error('broken')
    }
    const thrower = { tool: 'pay', when }
    assert.equal(judge({ allow: [thrower] }, bare('pay')).rule, 'mode ask')
    assert.is(types({ ask: [thrower] }, bare('pay')), 'ask')
    assert.is(types({ deny: [thrower] }, bare('pay')), 'deny')
    const later = { tool: 'pay', when: (() => Promise.resolve(false)) as unknown as () => boolean }
    assert.equal(judge({ allow: [later] }, bare('pay')).rule, 'mode ask')
    assert.is(types({ deny: [later] }, bare('pay')), 'deny')
  })

  it('match names, and their beginnings', () => {
    assert.is(types({ deny: ['github_*'] }, bare('github_issue')), 'deny')
    assert.is(types({ deny: ['github_*'] }, bare('github')), 'allow')
    assert.is(types({ deny: ['*'] }, bare('any')), 'deny')
    assert.is(types({ deny: ['pay'] }, bare('payment')), 'allow')
  })

  it('take a pattern for a tool without a subject, or with one that throws, as strictly as can be', () => {
    for (const call of [bare('pay'), { ...bare('pay'), subjects: 'unknown' } as const]) {
      assert.is(types({ deny: ['pay(x)'] }, call), 'deny')
      assert.equal(judge({ allow: ['pay(*)'] }, call).rule, 'mode ask')
      assert.equal(judge({ allow: ['pay'] }, call).rule, 'pay')
    }
  })

  it('want every subject of a call allowed, and deny for any', () => {
    const move = { ...bare('move'), subjects: [{ path: 'src/a' }, { path: 'etc/b' }] } as const
    assert.is(types({ ask: ['move'], allow: ['move(src/**)'] }, move), 'ask')
    assert.is(types({ ask: ['move'], allow: ['move(src/**)', 'move(etc/*)'] }, move), 'allow')
    assert.is(types({ deny: ['move(etc/**)'] }, move), 'deny')
  })

  it('match paths as globs within the workspace', () => {
    const allows = (pattern: string, path: string): boolean =>
      types({ ask: ['edit_file'], allow: [`edit_file(${pattern})`] }, file(path)) === 'allow'
    assert.ok(allows('src/**', 'src/a/b.ts'))
    assert.ok(allows('*.md', 'docs/a.md'))
    assert.ok(allows('/*.md', 'a.md'))
    assert.not(allows('/*.md', 'docs/a.md'))
    assert.not(allows('./a.md', 'docs/a.md'))
    assert.ok(allows('=a[1].ts', 'a[1].ts'))
    assert.not(allows('=a.ts', 'src/a.ts'))
    for (const path of ['src/../etc/x', '../src/a', '/src/a', 'C:/src/a', 'src/../../src/a', 'src\\..\\..\\a'])
      assert.not(allows('src/**', path), path)
    for (const path of ['../x', '/etc/passwd', 'C:\\x']) assert.not(allows('**', path), path)
    const denied = (path: string): boolean => types({ deny: ['edit_file(**/.env*)'] }, file(path)) === 'deny'
    assert.equal(
      ['.env', 'a/.env.local', '../.env', '/home/x/.env', 'a/./.env', 'a\\.env'].filter((one) => !denied(one)),
      [],
    )
    assert.not(denied('env/a'))
  })

  it('match addresses by host and path', () => {
    const allows = (pattern: string, url: string): boolean =>
      types({ ask: ['fetch'], allow: [`fetch(${pattern})`] }, address(url)) === 'allow'
    assert.ok(allows('example.com', 'https://example.com/any?x=1'))
    assert.ok(allows('*.example.com/docs/**', 'https://www.example.com/docs/a/b'))
    assert.ok(allows('http://localhost:8080', 'http://localhost:8080/'))
    assert.ok(allows('example.com/', 'https://EXAMPLE.com'))
    for (const url of [
      'https://example.com.evil.org/',
      'https://evil.org/example.com',
      'https://example.com@evil.org/',
      'https://user@example.com/',
      'https://example.com:8443/',
      'ftp://example.com/',
      'file:///example.com',
      'example.com',
      'https://evil.org#example.com',
      'https://evil.org\\@example.com',
    ])
      assert.not(allows('example.com', url), url)
    for (const path of ['docs/../admin', 'docs/%2e%2e/admin', 'docs/..%2fadmin', 'admin/docs/x'])
      assert.not(allows('example.com/docs/**', `https://example.com/${path}`), path)
    const denied = (url: string): boolean => types({ deny: ['fetch(evil.org)'] }, address(url)) === 'deny'
    assert.equal(
      ['https://evil.org', 'http://a@EVIL.org.:81/x', 'evil.org/x'].filter((url) => !denied(url)),
      [],
    )
  })

  it('follow the mode where no rule is about a call', () => {
    const calls = [
      bare('look', 'none'),
      bare('put', 'idempotent'),
      bare('edit', 'reversible'),
      bare('pay'),
      bare('helper', 'agent'),
    ]
    const seen = permissionModes.map((mode) =>
      calls.map((call) => {
        const { type, instead, rule } = judge({}, call, mode)
        assert.is(rule, `mode ${mode}`)
        return instead === true ? 'free' : type
      }),
    )
    assert.equal(seen, [
      ['allow', 'allow', 'allow', 'allow', 'allow'],
      ['allow', 'allow', 'free', 'allow', 'allow'],
      ['allow', 'deny', 'deny', 'deny', 'allow'],
      ['free', 'free', 'free', 'free', 'free'],
      ['allow', 'allow', 'allow', 'allow', 'allow'],
    ])
    assert.is(judge({ allow: ['pay'], granted: ['pay'] }, bare('pay'), 'plan').type, 'deny')
    assert.is(judge({ ask: ['pay'] }, bare('pay'), 'auto').type, 'allow')
    assert.is(judge({ deny: ['pay'] }, bare('pay'), 'auto').type, 'deny')
    assert.equal(judge({ ask: ['pay'] }, bare('pay'), 'refuse'), { type: 'deny', rule: 'pay', mode: 'refuse' })
    assert.is(judge({}, { ...bare('exit_plan', 'none'), endsPlan: true }, 'plan').type, 'ask')
  })

  it('take the strictest of an agent and those above it', () => {
    const free: Ruling = { type: 'allow', rule: 'a', instead: true }
    const allowed: Ruling = { type: 'allow', rule: 'b' }
    const asked: Ruling = { type: 'ask', rule: 'c' }
    const denied: Ruling = { type: 'deny', rule: 'd' }
    assert.is(strictest([free, allowed]), allowed)
    assert.is(strictest([allowed, free]), allowed)
    assert.is(strictest([free, asked, allowed]), asked)
    assert.is(strictest([asked, denied]), denied)
    assert.is(strictest([free]), free)
  })

  it('say what is wrong with a rule', () => {
    const wrong = [
      '',
      '(x)',
      'a b',
      'a(',
      'a(x) y',
      'a()',
      'a( )',
      '**',
      'a*b',
      'ä',
      `a(${'x'.repeat(2_000)})`,
      `a(${'x '.repeat(60)})`,
    ]
    assert.equal(
      wrong.filter((text) => typeof readRule(text) !== 'string'),
      [],
    )
    assert.match(readRule('a b') as string, '"a b" is no rule: write a rule as name, name* or name(pattern)')
    assert.match(readRule('a({a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b})') as string, 'alternatives')
  })

  it('suggest the narrowest rule first, and only rules that would allow the call', () => {
    assert.equal(suggestRules(command('git push origin main')), [
      'run_command(git push origin main)',
      'run_command(git push *)',
      'run_command',
    ])
    assert.equal(suggestRules(command('make -j4')), ['run_command(make -j4)', 'run_command(make *)', 'run_command'])
    assert.equal(suggestRules(command('a; b > c')), ['run_command(=a; b > c)', 'run_command'])
    assert.equal(suggestRules(file('src/a/b.ts')), ['edit_file(src/a/b.ts)', 'edit_file(src/a/**)', 'edit_file'])
    assert.equal(suggestRules(file('b.ts')), ['edit_file(=b.ts)', 'edit_file'])
    assert.equal(suggestRules(address('https://a.org/x?y')), ['fetch(=https://a.org/x?y)', 'fetch(a.org)', 'fetch'])
    assert.equal(suggestRules(bare('pay')), ['pay'])
    fc.assert(
      fc.property(anyCall, (call) => {
        for (const rule of suggestRules(call)) assert.is(judge({ ask: ['*'], granted: [rule] }, call).type, 'allow')
      }),
      { numRuns: 300, seed: 8 },
    )
  })
})

const line = fc.array(
  fc.constantFrom('npm', 'run', 'git', 'push', ';', '&&', '*', '$x', "'a b'", '>', '-f', 'rm', '='),
  {
    minLength: 1,
    maxLength: 6,
  },
)
const path = fc.array(fc.constantFrom('src', 'a.ts', '..', '.env', '*', '', '[x]'), { minLength: 1, maxLength: 4 })
const anyCall = fc.oneof(
  line.map((words) => command(words.join(' '))),
  path.map((names) => file(names.join('/'))),
  fc.constantFrom(bare('pay'), bare('look', 'none'), address('https://a.org/b'), address('no address')),
)
const anyRule = fc.constantFrom<string>(
  '*',
  'run_command',
  'run_*',
  'run_command(npm run *)',
  'run_command(git *)',
  'run_command(* push *)',
  'run_command(rm *)',
  'edit_file(src/**)',
  'edit_file(**/.env)',
  'edit_file',
  'fetch(a.org)',
  'pay',
)
const someRules = fc.array(anyRule, { maxLength: 4 })
const lists = fc.record({ deny: someRules, ask: someRules, allow: someRules, granted: someRules })
const strictness = { allow: 0, ask: 1, deny: 2 }

describe('rules taken together', (it) => {
  it('adding a deny never allows more', () => {
    fc.assert(
      fc.property(lists, anyCall, anyRule, fc.constantFrom(...permissionModes), (rules, call, more, mode) => {
        const before = judge(rules, call, mode)
        const after = judge({ ...rules, deny: [...rules.deny, more] }, call, mode)
        assert.ok(strictness[after.type] >= strictness[before.type])
      }),
      { numRuns: 500, seed: 1 },
    )
  })

  it('adding an allow or a grant never allows what a deny holds', () => {
    fc.assert(
      fc.property(lists, anyCall, anyRule, fc.constantFrom(...permissionModes), (rules, call, more, mode) => {
        if (judge({ deny: rules.deny }, call, mode).type !== 'deny') return
        const allow = [...rules.allow, more]
        assert.is(judge({ ...rules, allow, granted: [...rules.granted, more] }, call, mode).type, 'deny')
      }),
      { numRuns: 500, seed: 2 },
    )
  })

  it('adding an ask never allows more, nor does adding an allow ask or deny more', () => {
    fc.assert(
      fc.property(lists, anyCall, anyRule, (rules, call, more) => {
        const before = strictness[judge(rules, call).type]
        assert.ok(strictness[judge({ ...rules, ask: [...rules.ask, more] }, call).type] >= before)
        assert.ok(strictness[judge({ ...rules, allow: [...rules.allow, more] }, call).type] <= before)
      }),
      { numRuns: 500, seed: 3 },
    )
  })
})
