import type { RevertCategory, TagKind } from './braking.ts'

/** What each category leaves behind. */
export const tagKinds: { readonly [C in RevertCategory]: TagKind } = {
  failure: 'lesson',
  tangent: 'finding',
  completion: 'outcome',
  'step-summary': 'checkpoint',
}
