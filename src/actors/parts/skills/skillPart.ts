import { z } from 'zod'
import { lazily } from '../../../protocol/lazily.ts'
import { outside } from '../../define/outside.ts'
import { agentPart } from '../agentPart.ts'

export interface SkillOption {
  /**
   * Folders of skills in the open format: each is one, with a `SKILL.md`, or holds several. The model is told their names and descriptions
   * and reads the rest with `read_skill`. As `skillTools(folders)` among `tools`.
   */
  readonly skills?: readonly string[]
}

export const skillFoldersSchema = lazily(() =>
  z.array(z.string().min(1, 'name a folder')).min(1, 'name at least one folder'),
)

/** The part for skills, as a source of tools. */
export const skillPart = agentPart<SkillOption, object>({
  options: { skills: skillFoldersSchema },
  settings: () => ({}),
  tools: ({ skills }) => (skills === undefined ? [] : [outside.skillTools!(skills)]),
})
