import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'
import type { Skill } from './skill.ts'

const opening =
  'You have skills: folders of instructions for particular kinds of work, made by people who know it. When a task fits one of these ' +
  'descriptions, read that skill with read_skill before you begin, and do as it says. Do not guess what a skill says.'

/** Minimum length of a useful description. */
const fewestChars = 40
const mostChars = 1_024

export interface SkillList {
  /** Text for the system prompt; `undefined` without skills. */
  readonly text: string | undefined
  /** Number of skills that did not fit. */
  readonly leftOut: number
}

/**
 * Returns the names and descriptions of skills, in at most `maxChars` characters besides the introduction. If
 * they do not fit, the longest descriptions are cut to one length; then the last skills are left out. Pure.
 */
export function describeSkills(skills: readonly Skill[], maxChars: number): SkillList {
  if (skills.length === 0) return { text: undefined, leftOut: 0 }
  const cap = descriptionChars(skills, maxChars)
  let room = maxChars
  const lines = skills
    .map(({ name, description }) => `- ${name}: ${cutEnd(description, cap)}`)
    .filter((line) => (room -= line.length + 1) >= 0)
  return { text: [opening, ...lines].join('\n'), leftOut: skills.length - lines.length }
}

/** Returns the length to which descriptions are cut so that all lines fit, if there is one. */
function descriptionChars(skills: readonly Skill[], maxChars: number): number {
  const sizeAt = (cap: number): number =>
    skills.reduce((sum, { name, description }) => sum + name.length + 5 + Math.min(description.length, cap), 0)
  let low = fewestChars
  let high = mostChars
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (sizeAt(middle) <= maxChars) low = middle
    else high = middle - 1
  }
  return low
}
