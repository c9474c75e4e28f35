"""Django on PostgreSQL: query sets, objects and managers as arguments, in transactions; its SQL.

spans: 33
speed: slow
needs: postgres psycopg
"""

import os
import re
from urllib.parse import urlparse

import django
from django.conf import settings
from tg import t

url = urlparse(os.environ["DATABASE_URL"])
database = {
    "ENGINE": "django.db.backends.postgresql",
    "NAME": url.path[1:],
    "USER": url.username,
    "PASSWORD": url.password,
    "HOST": url.hostname,
    "PORT": url.port,
}
settings.configure(DATABASES={"default": database}, USE_TZ=True)
django.setup()

from django.db import DataError, IntegrityError, connection, models, transaction
from django.db.models.functions import Cast

t.init()


class Customer(models.Model):
    name = models.TextField(unique=True)

    class Meta:
        app_label = "host"
        db_table = "host_customer"

    def __str__(self):
        return f"{self.name} {self.order_set.count()}"


class Order(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE)
    state = models.TextField(default="new")

    class Meta:
        app_label = "host"
        db_table = "host_order"


def say(execute, sql, params, many, context):
    print("SQL", re.sub(r'"s\d+_x', '"s_x', sql))  # savepoints are named after the thread
    return execute(sql, params, many, context)


@t.tool(effect="read")
def narrow(orders, **filters):
    return orders.filter(**filters)


@t.tool(effect="read")
def first(orders):
    return orders.first()


@t.tool(effect="write")
def pay(order):
    order.state = "paid"
    order.save(update_fields=["state"])
    return order


@t.tool
def same(x):
    return x


with connection.schema_editor() as editor:
    for model in (Customer, Order):
        editor.execute(f"DROP TABLE IF EXISTS {model._meta.db_table} CASCADE")
    editor.create_model(Customer)
    editor.create_model(Order)
with connection.execute_wrapper(say), t.agent_run("shop", user_input=Customer.objects.all()):
    with transaction.atomic():
        ada = Customer.objects.create(name="ada")
        Order.objects.bulk_create([Order(customer=ada), Order(customer=ada)])
        orders = narrow(narrow(Order.objects.all(), state="new"), customer__name="ada")
        order = first(orders)
        pay(order)
        print(
            same(ada).name,
            same(Order.objects.only("id")).count(),
            type(same(ada.order_set)).__name__,
        )
    with transaction.atomic():
        wrong = same(Order.objects.annotate(n=Cast("state", models.IntegerField())))
        print(same(wrong.values("n")).query is not None, Order.objects.count())
        try:
            with transaction.atomic():
                list(wrong)
        except DataError as error:
            print(type(error).__name__)
        try:
            with transaction.atomic():
                same(Customer.objects).create(name="ada")
        except IntegrityError as error:
            print(type(error).__name__, connection.needs_rollback)
        print(same(Order.objects.defer("state")).order_by("id")[0].get_deferred_fields())
    print(
        same(Order.objects.iterator()) is not None,
        same(Order.objects.raw("SELECT no_such")) is not None,
    )
    prefetched = list(same(Customer.objects.prefetch_related("order_set")))
    print(
        len(same(prefetched[0]).order_set.all()),
        same({"orders": orders, "list": [ada]})["orders"] is orders,
    )
with connection.schema_editor() as editor:
    editor.delete_model(Order)
    editor.delete_model(Customer)
