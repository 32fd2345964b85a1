import { rightsOf, type Right, type Role } from '../../packages/wire/src/rights.ts'

/** Returns a predicate: true for the rights of a client with this role. */
export const having =
  (role: Role): ((right: Right) => boolean) =>
  (right) =>
    rightsOf({ role }).has(right)
