"""SQLAlchemy: lazy attributes, detached and expired objects, queries as values; its SQL.

spans: 0 or more
speed: slow
"""

from sqlalchemy import ForeignKey, create_engine, event, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from tg import t

t.init()


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = "customer"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    orders: Mapped[list["Order"]] = relationship(back_populates="customer")

    def __repr__(self):
        return f"{self.name} {len(self.orders)}"


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey("customer.id"))
    customer: Mapped[Customer] = relationship(back_populates="orders")


@t.tool
def same(x):
    return x


@t.tool
def find(session, name):
    return session.scalars(select(Customer).where(Customer.name == name)).one()


engine = create_engine("sqlite://")
Base.metadata.create_all(engine)
event.listen(
    engine, "before_cursor_execute", lambda c, cursor, sql, *_: print("SQL", " ".join(sql.split()))
)
with t.agent_run("shop"):
    with Session(engine) as session:
        session.add(Customer(name="ada", orders=[Order(), Order()]))
        session.commit()
        ada = find(session, "ada")
        print(same(ada) is ada, len(same(ada.orders)))
        session.commit()
        print("expired", same(ada) is ada, same([ada])[0] is ada)
        result = same(session.execute(select(Order.id)))
        print(same(result.scalars()).all(), same(session.query(Order)).count())
        pending = Order(customer_id=1)
        session.add(pending)
        same(pending), same(session)
        print(pending in session.new, same(session.new) is not None)
        row = session.execute(select(Customer.id, Customer.name)).one()
        print(
            same(row).name, same(select(Order)).is_select, same(Customer.name == "x") is not None
        )
        session.rollback()
    try:
        print(same(ada).name)
    except Exception as error:
        print(type(error).__name__)
