import { agentPart } from '../agentPart.ts'
import { skillFoldersSchema, skillTools } from './skillTools.ts'

export interface SkillOption {
  /**
   * Folders of skills in the open format: each is one, with a `SKILL.md`, or holds several. The model is told their names and descriptions
   * and reads the rest with `read_skill`. As `skillTools(folders)` among `tools`.
   */
  readonly skills?: readonly string[]
}

/** Skills as a source of tools. */
export const skillPart = agentPart<SkillOption, object>({
  options: { skills: skillFoldersSchema },
  settings: () => ({}),
  tools: ({ skills }) => (skills === undefined ? [] : [skillTools(skills)]),
})
