import { checkVersion, releasedChangelog, withVersion } from '../../scripts/release.ts'
import { assert, describe } from '../support/suite.ts'

const changelog = (unreleased: string): string =>
  `# Changelog\n\n## [Unreleased]\n\n${unreleased}## [0.1.0] - 2026-01-02\n\n- Ticks.\n`

describe('a release', (it) => {
  it('puts what was unreleased under its version and day, and leaves the rest', () => {
    assert.is(
      releasedChangelog(changelog('### Added\n\n- Chimes.\n\n'), '0.2.0', '2026-03-04'),
      `# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n### Added\n\n- Chimes.\n\n## [0.1.0] - 2026-01-02\n\n- Ticks.\n`,
    )
  })

  it('is refused when nothing is unreleased, or the changelog has no place for it', () => {
    for (const nothing of ['', '### Added\n\n'])
      assert.throws(() => releasedChangelog(changelog(nothing), '0.2.0', '2026-03-04'), /nothing to release/)
    assert.throws(() => releasedChangelog('# Changelog\n', '0.2.0', '2026-03-04'), /has no "## \[Unreleased\]"/)
  })

  it('has a version that comes after the last one; the first may be the one that stands there', () => {
    for (const next of ['0.1.3', '0.2.0', '1.0.0', '0.10.0']) checkVersion(next, '0.1.2', false)
    checkVersion('0.1.2', '0.1.2', true)
    assert.throws(() => checkVersion('0.1.2', '0.1.2', false), /0\.1\.2 does not come after 0\.1\.2/)
    assert.throws(() => checkVersion('0.1.1', '0.1.2', true), /does not come after/)
    for (const wrong of ['1.2', 'v1.2.3', '1.2.3-rc', ''])
      assert.throws(() => checkVersion(wrong, '0.1.2', false), /is no version/)
  })

  it('changes the version where it stands first, and nothing that only looks like it', () => {
    const text = `{ "name": "a", "version": "0.1.0", "x": "0.1.0", "y": "0x1y0" }`
    assert.is(withVersion(text, '0.1.0', '0.2.0'), text.replace('"0.1.0"', '"0.2.0"'))
    assert.throws(() => withVersion(`"0x1y0"`, '0.1.0', '0.2.0'), /not where it was expected/)
  })
})
