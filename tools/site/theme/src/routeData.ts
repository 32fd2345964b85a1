import { defineRouteMiddleware } from '@astrojs/starlight/route-data'
import { groupsFor, isNear } from './groupsFor.ts'

/** Most pages of the site are types and decisions, which the menu does not name: theirs is shorter, which makes the site a third smaller. */
export const onRequest = defineRouteMiddleware(({ locals }) => {
  const route = locals.starlightRoute
  const groups = groupsFor(route.id)
  if (groups === undefined) return
  route.sidebar = route.sidebar
    .filter(({ label }) => groups.includes(label))
    .map((group) =>
      group.type === 'group'
        ? { ...group, entries: group.entries.filter((entry) => entry.type === 'group' || isNear(route.id, entry.href)) }
        : group,
    )
})
