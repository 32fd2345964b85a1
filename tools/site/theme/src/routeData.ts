import { defineRouteMiddleware } from '@astrojs/starlight/route-data'
import { groupsFor } from './groupsFor.ts'

/** Most pages of the site are types and decisions, which the menu does not name: theirs is shorter, which halves the site. */
export const onRequest = defineRouteMiddleware(({ locals }) => {
  const route = locals.starlightRoute
  const groups = groupsFor(route.id)
  if (groups !== undefined) route.sidebar = route.sidebar.filter(({ label }) => groups.includes(label))
})
