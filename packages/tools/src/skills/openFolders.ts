import { messageOf } from '../../../../src/protocol/errors.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import type { AnyTool } from '../../../../src/actors/tools/defineTool.ts'
import { readSkillTool } from './readSkillTool.ts'
import { scanSkills, type SkillCache } from './scanSkills.ts'
import type { FoundSkills, Skill } from './skill.ts'

/** Folders of skills that are scanned before every turn. */
export interface OpenFolders {
  /** The tool `read_skill`, for the skills found last. */
  readonly tools: readonly AnyTool[]
  /** Looks for skills in the folders. Never rejects: problems are in `trouble`. */
  look(): Promise<FoundSkills>
}

/**
 * Imports the optional package. Bundlers resolve imports with a constant name. The comments prevent that in webpack and Turbopack; esbuild skips
 * imports whose failure is caught.
 */
const importYaml = () =>
  import(/* webpackIgnore: true */ /* turbopackIgnore: true */ 'yaml').catch((thrown: unknown) => {
    throw thrown
  })

/** Opens folders, given as absolute paths. */
export function openFolders(folders: readonly string[]): OpenFolders {
  const cache: SkillCache = new Map()
  let skills: readonly Skill[] = []
  return {
    tools: Object.freeze([readSkillTool(() => skills)]),
    async look() {
      try {
        const yaml = await loadPeer(importYaml, 'The format of skills', 'yaml')
        const found = await scanSkills(folders, cache, yaml)
        skills = found.skills
        return found
      } catch (thrown) {
        return { skills, trouble: [messageOf(thrown)] }
      }
    },
  }
}
