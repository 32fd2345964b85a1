import { claudeRules, opencodeRules } from '../src/permissions/importRules.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('imported permissions', (it) => {
  it('come from the settings of Claude Code', () => {
    const { permissions, lost } = claudeRules({
      permissions: {
        defaultMode: 'acceptEdits',
        deny: ['Read(./.env)', 'Read(~/.ssh)', 'Bash(git push:*)', 'WebFetch(domain:evil.org)'],
        ask: ['Bash(npm publish*)'],
        allow: ['Bash(npm run test:*)', 'Edit(/src/**)', 'mcp__github__issue', 'mcp__figma', 'Bash', 'Read(docs/)'],
        additionalDirectories: ['../x'],
      },
    })
    assert.equal(permissions, {
      mode: 'edits',
      deny: ['read_file(./.env)', 'run_command(git push *)'],
      ask: ['run_command(npm publish* *)', 'run_command'],
      allow: [
        'run_command(npm run test *)',
        'edit_file(/src/**)',
        'write_file(/src/**)',
        'github_issue',
        'figma_*',
        'read_file(docs/**)',
      ],
    })
    assert.equal(lost, [
      'Read(~/.ssh): it is about files outside the workspace, which no tool here reaches.',
      'WebFetch(domain:evil.org): no tool here is as that one.',
      'Bash: it allows everything, so people are asked; trust: true takes it over.',
      'permissions.additionalDirectories has no counterpart.',
    ])
  })

  it('allow every command only when they are trusted', () => {
    const settings = { permissions: { allow: ['Bash(*)'], defaultMode: 'bypassPermissions' } }
    assert.equal(claudeRules(settings, { trust: true }), {
      permissions: { mode: 'auto', deny: [], ask: [], allow: ['run_command'] },
      lost: [],
    })
    const { permissions, lost } = claudeRules(settings)
    assert.equal(permissions, { deny: [], ask: ['run_command'], allow: [] })
    assert.is(lost.length, 2)
    assert.equal(opencodeRules({ permission: 'allow' }).permissions.ask, ['*'])
    assert.equal(opencodeRules({ permission: { bash: { '* *': 'allow' } } }).permissions.ask, ['run_command(* *)'])
  })

  it('come from the configuration of opencode', () => {
    const { permissions, lost } = opencodeRules({
      permission: {
        edit: 'deny',
        webfetch: 'allow',
        bash: { '*': 'ask', 'git status*': 'allow', 'rm *': 'deny' },
        github_issue: 'ask',
        read: { '*.env': 'deny', '*': 'allow', x: 'perhaps' },
      },
    })
    assert.equal(permissions, {
      deny: ['edit_file', 'write_file', 'delete_file', 'run_command(rm *)', 'read_file(*.env)'],
      ask: ['run_command', 'github_issue'],
      allow: ['run_command(git status* *)', 'read_file'],
    })
    assert.equal(lost, [
      'webfetch(*): no tool here is as that one.',
      'read(*): there the last rule counts; here read(*.env) holds before it.',
      'read(x): "perhaps" is no decision.',
    ])
  })

  it('are empty where there is nothing to read, and lose what is no rule', () => {
    const nothing = { permissions: { deny: [], ask: [], allow: [] }, lost: [] }
    for (const given of [undefined, null, 3, 'x', [], {}, { permissions: [] }, { permission: null }]) {
      assert.equal(claudeRules(given), nothing)
      assert.equal(opencodeRules(given), nothing)
    }
    const { permissions, lost } = claudeRules({
      permissions: { allow: [3, 'Read(', 'Edit(!a)', null], defaultMode: 4 },
    })
    assert.equal(permissions.allow, [])
    assert.is(lost.length, 5)
  })
})
